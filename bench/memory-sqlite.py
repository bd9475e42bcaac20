"""The same records and questions as bench/memory.ts, in SQLite with R*Tree and FTS5 by Python's own sqlite3. Prints one line of JSON: how often each is done in a second of processor time."""

import json
import math
import os
import sqlite3
import sys
import tempfile
import time

RECORDS = int(sys.argv[1])
ROUNDS = int(sys.argv[2])
BATCH = 256
DAY_MS = 86_400_000
NOW_MS = 1_800_000_000_000
WORDS = 'river stone bread light winter garden engine letter window copper'.split()


def record(i):
    words = ' '.join(WORDS[(i // 10**at) % 10] for at in range(8))
    lat, lon = ((i * 7919) % 179_000) / 1_000 - 89.5, ((i * 104_729) % 359_000) / 1_000 - 179.5
    return (i, f'{words} {i}', (i * 31) % 1_000, NOW_MS - (RECORDS - i) * 2_000, f'series{i % 10}', f'user{i % 1_000}', f'session{i % 5_000}', lat, lon)


def metres(a, b, c, d):
    x = math.sin(math.radians(c - a) / 2) ** 2 + math.cos(math.radians(a)) * math.cos(math.radians(c)) * math.sin(math.radians(d - b) / 2) ** 2
    return 12_742_017.6 * math.asin(math.sqrt(x))


folder = tempfile.mkdtemp(dir=os.environ.get('BENCH_DIR'))
db = sqlite3.connect(os.path.join(folder, 'memory.db'), isolation_level=None)
db.executescript('''
pragma journal_mode=wal; pragma synchronous=full;
create table records(id integer primary key, data text, value real, time integer, series text, user text, session text, lat real, lon real);
create index by_time on records(series, time); create index by_user on records(user); create index by_session on records(session);
create virtual table places using rtree(id, min_lat, max_lat, min_lon, max_lon);
create virtual table texts using fts5(data, content='records', content_rowid='id');
create table edges(source text, target text); create index by_source on edges(source); create index by_target on edges(target);
''')
db.create_function('metres', 4, metres, deterministic=True)


def add(rows):
    db.execute('begin')
    db.executemany('insert into records values (?,?,?,?,?,?,?,?,?)', rows)
    db.executemany('insert into places values (?,?,?,?,?)', [(r[0], r[7], r[7], r[8], r[8]) for r in rows])
    db.executemany('insert into texts(rowid, data) values (?,?)', [(r[0], r[1]) for r in rows])
    db.execute('commit')


def timed(work):
    began = time.process_time()
    for i in range(ROUNDS):
        work(i)
    return ROUNDS / (time.process_time() - began)


began = time.process_time()
for first in range(0, RECORDS, BATCH):
    add([record(i) for i in range(first, min(first + BATCH, RECORDS))])
result = {'add': RECORDS / (time.process_time() - began)}
edges = max(100, RECORDS // 10)
db.execute('begin')
db.executemany('insert into edges values (?,?)', [(f'n{i % (edges // 4)}', f'n{(i * 7) % (edges // 4)}') for i in range(edges)])
db.execute('commit')

result['newest'] = timed(lambda i: db.execute('select * from records where session=? order by id desc limit 20', (f'session{i * 37 % min(5_000, RECORDS)}',)).fetchall())
result['range'] = timed(lambda i: db.execute('select * from records where series=? and time>=? order by time limit 100', (f'series{i % 10}', NOW_MS - RECORDS * 1_000)).fetchall())
result['buckets'] = timed(
    lambda i: db.execute(
        'select time/60000, avg(value), min(value), max(value), sum(value), count(*) from records where series=? and time>=? group by 1',
        (f'series{i % 10}', NOW_MS - 2_000 * 10_000),
    ).fetchall()
)


def within(lat, lon, radius, limit):
    d = radius / 111_000
    w = d / max(0.01, math.cos(math.radians(lat)))
    return db.execute(
        'select *, metres(?, ?, min_lat, min_lon) m from places join records using(id) where max_lat>=? and min_lat<=? and max_lon>=? and min_lon<=? and m<=? order by m limit ?',
        (lat, lon, lat - d, lat + d, lon - w, lon + w, radius, limit),
    ).fetchall()


def nearest(lat, lon, limit):
    radius = 1_000
    while True:
        found = within(lat, lon, radius, limit)
        if len(found) >= limit or radius > 20_000_000:
            return found
        radius *= 4


at = lambda i: ((i * 13) % 120 - 60, (i * 29) % 340 - 170)
result['within'] = timed(lambda i: within(*at(i), 20_000, 100))
result['nearest'] = timed(lambda i: nearest(*at(i), 10))
two = 'select target from edges where source=?1 union select source from edges where target=?1'
result['neighbours'] = timed(lambda i: [db.execute(two, row).fetchall() for row in db.execute(two, (f'n{i % 20}',)).fetchall()])
print(json.dumps(result))
db.close()
for name in os.listdir(folder):
    os.unlink(os.path.join(folder, name))
os.rmdir(folder)
