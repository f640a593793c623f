# Adminer, by its pages: logs in, lists, previews, looks at a structure, groups by its own form and by a statement.  Prints one
# line per finding.  Run by test/t/060_clients.pl, which serves Adminer:
#
#   python3 adminer_client.py URL SERVER USER
import html
import http.cookiejar
import re
import sys
import urllib.parse
import urllib.request

url, server, user = sys.argv[1:]
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def page(form=None, **query):
    """The text of a page; of what is sent by a form too."""
    address = url + "?" + urllib.parse.urlencode({"pgsql": server, "username": user, "db": "postgres", "ns": "sales", **query})
    data = urllib.parse.urlencode(form).encode() if form else None
    return browser.open(address, data, timeout=60).read().decode()


def text(source):
    return html.unescape(re.sub(r"<[^>]*>", " ", source))


def numbers(source, column):
    """The whole numbers of a column of the table of results."""
    table = re.search(r"<table.*?</table>", source, re.S).group(0)
    rows = re.findall(r"<tr[^>]*>(.*?)(?=<tr|</table>)", table, re.S)
    cells = [[text(cell).strip().replace(",", "") for cell in re.findall(r"<td[^>]*>(.*?)(?=<t[dh]|$)", row, re.S)] for row in rows]
    return [row[column] for row in cells if row and row[column].isdigit()]


browser.open(url, timeout=60).read()
login = {"auth[driver]": "pgsql", "auth[server]": server, "auth[username]": user, "auth[password]": "none", "auth[db]": "postgres"}
browser.open(url, urllib.parse.urlencode(login).encode(), timeout=60).read()
listed = text(page())
print("listed:", *(name for name in ("orders_v", "orders_v_foreign") if re.search(rf"\b{name}\b", listed)))
print("columns:", " ".join(re.findall(r"<th[^>]*>(id|region|amount|ordered_at)\b", page(table="orders_v"))))
preview = re.search(r"rows of a dataset are not shown", text(page(select="orders_v")))
print("preview:", preview.group(0) if preview else "shown")
form = {"columns[0][fun]": "", "columns[0][col]": "region", "columns[1][fun]": "count", "columns[1][col]": "amount", "order[0]": "region", "limit": 50}
answers = [page(select="orders_v", **form) for _ in range(2)]
print("form:", *numbers(answers[0], -1))
source = page(sql="")
token = re.search(r"name=.token. value=.([^'\"]+)", source).group(1)
statement = "SELECT region, count(*) AS n FROM orders_v WHERE amount < 75 GROUP BY region ORDER BY region"
source = page({"query": statement, "token": token, "limit": ""}, sql="")
print("statement:", *numbers(source, 1))
