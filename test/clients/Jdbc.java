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

    static final String SELECT = "SELECT region, count(*) AS n, sum(amount) AS total FROM sales.orders_v"
        + " WHERE ordered_at >= ? AND amount < ? GROUP BY region ORDER BY region";

    // The columns of a list that the driver makes of the catalog.
    static String names(ResultSet list, String... columns) throws SQLException {
        StringBuilder names = new StringBuilder();

        while (list.next()) {
            names.append(names.length() > 0 ? ", " : "");
            for (String column : columns) {
                names.append(column.equals(columns[0]) ? "" : " ").append(list.getString(column));
            }
        }
        list.close();
        return names.toString();
    }

    static void browse(Connection connection) throws SQLException {
        DatabaseMetaData catalog = connection.getMetaData();

        System.out.println("listed: " + names(catalog.getTables(null, "sales", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME"));
        System.out.println("columns: " + names(catalog.getColumns(null, "sales", "orders_v", "%"), "COLUMN_NAME", "TYPE_NAME"));
        try (PreparedStatement statement = connection.prepareStatement(SELECT)) {
            System.out.println("described: " + statement.getMetaData().getColumnTypeName(2) + " " + statement.getMetaData().getColumnTypeName(3));
        }
        try (Statement statement = connection.createStatement()) {
            statement.setMaxRows(5);
            statement.executeQuery("SELECT * FROM sales.orders_v").next();
        } catch (SQLException error) {
            System.out.println("preview: " + error.getSQLState() + " " + error.getMessage().split("\n")[0]);
        }
        connection.rollback();
    }

    static String regions(PreparedStatement statement) throws SQLException {
        StringBuilder rows = new StringBuilder();

        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                rows.append(result.getString(1)).append(' ').append(result.getLong(2)).append(' ').append(result.getBigDecimal(3)).append("; ");
            }
        }
        return rows.toString();
    }

    // From its fifth execution on the driver keeps it as a statement of the server.
    static void select(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SELECT)) {
            String first = null;
            int same = 0;

            statement.setFetchSize(2);
            for (int i = 0; i < 7; i++) {
                statement.setTimestamp(1, Timestamp.from(java.time.Instant.parse("2025-05-01T00:00:00Z")));
                statement.setBigDecimal(2, new java.math.BigDecimal("50"));
                String rows = regions(statement);
                first = first != null ? first : rows;
                same += rows.equals(first) ? 1 : 0;
                connection.commit();
            }
            System.out.println("regions: " + first);
            System.out.println("same: " + same + ", kept by the server: " + statement.unwrap(org.postgresql.PGStatement.class).isUseServerPrepare());
        }
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
            browse(connection);
            select(connection);
        }
    }
}
