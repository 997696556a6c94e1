CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value REAL, data BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
  INSERT INTO t SELECT i, 'name' || (i * 7919 % 3001), i * 0.5, zeroblob(i % 300) FROM n;
CREATE INDEX by_name ON t(name);
SELECT count(*), sum(value), sum(length(data)) FROM t;
SELECT name, count(*) AS c, group_concat(id) FROM t GROUP BY name ORDER BY c DESC, name LIMIT 3;
SELECT count(*) FROM t a JOIN t b ON a.name = b.name WHERE a.id < 500;
UPDATE t SET data = zeroblob(5000) WHERE id % 10 = 0;
DELETE FROM t WHERE id % 3 = 0;
VACUUM;
PRAGMA integrity_check;
SELECT count(*), sum(length(data)) FROM t;
