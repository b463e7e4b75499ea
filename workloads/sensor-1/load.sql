-- The sensors were last read this morning, spread over a minute.
insert into sensor (location, reading, modified_date)
select n, n % 100, current_date + time '08:00' - make_interval(secs => n % 60)
from generate_series(1, :rows) as n;

create index sensor_location on sensor (location);

-- From now on; what was loaded is no change.
create trigger sensor_stamp before insert or update on sensor
    for each row execute function stamp_sensor();
create trigger sensor_to_log after insert or update on sensor
    for each row execute function log_sensor();

vacuum analyze sensor;
