// A BI tool's way: JDBC with autocommit off, a read-only transaction and a fetch size.  Prints one
// line per finding.  Run by test/t/060_clients.pl:
//
//   java -cp postgresql.jar Jdbc.java URL
import java.sql.*;

public class Jdbc {
    static final String ASK = "SELECT query, label, estimate, stderr, release FROM dp.histogram(?, ?, epsilon => ?)";

    static String ask(Connection connection, String attributes, double epsilon) throws SQLException {
        int rows = 0;
        long release = 0;

        try (PreparedStatement statement = connection.prepareStatement(ASK)) {
            statement.setFetchSize(3);
            statement.setString(1, "people");
            statement.setString(2, attributes);
            statement.setDouble(3, epsilon);
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) {
                    rows++;
                    release = result.getLong("release");
                }
            }
        }
        return rows + " rows of release " + release;
    }

    static String number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        }
    }

    public static void main(String[] arguments) throws SQLException {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            connection.setAutoCommit(false);
            connection.setReadOnly(true);
            System.out.println("replay: " + ask(connection, "{age,sex}", 0.5));
            System.out.println("paid: " + ask(connection, "{sex}", 0.25));
            System.out.println("read only: " + number(connection, "SHOW transaction_read_only"));
            connection.rollback();
            System.out.println("again: " + ask(connection, "{sex}", 0.25));
            connection.rollback();

            int rows = 0;
            double sum = 0;
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(7);
                try (ResultSet result = statement.executeQuery("SELECT age_from, sex, estimate FROM report ORDER BY query")) {
                    while (result.next()) {
                        rows++;
                        sum += result.getDouble("estimate");
                    }
                }
            }
            System.out.println("table: " + rows + " rows");
            System.out.println("sum: " + (long) Math.floor(sum));
            connection.rollback();
        }
    }
}
