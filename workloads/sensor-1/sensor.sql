-- A reading comes in: what the sensor showed, what it shows now, the most that it showed of late.
\set sid random(1, least(100000 * :scale, :rows))
\set val random(1, 100)
select * from sensor where sensor_id = :sid;
update sensor set reading = :val where sensor_id = :sid;
select max(reading) from sensor_log
where sensor_id = :sid and reading_date > localtimestamp - interval '5 minutes';
