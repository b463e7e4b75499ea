-- Readings are added and never changed; what a sensor shows now is its latest one.

create table sensor_log (
    sensor_id    serial not null,
    location     varchar not null,
    reading      bigint not null,
    reading_date timestamp not null default now()
);

create view v_sensor as
select distinct on (sensor_id) *
from sensor_log
order by sensor_id, reading_date desc;
