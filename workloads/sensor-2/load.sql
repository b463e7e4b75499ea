-- Each sensor was read once this morning, spread over a minute; the numbers are given by the sequence.
insert into sensor_log (location, reading, reading_date)
select n, n % 100, current_date + time '08:00' - make_interval(secs => n % 60)
from generate_series(1, :rows) as n;

create unique index sensor_log_sensor_date on sensor_log (sensor_id, reading_date desc);

vacuum analyze sensor_log;
