-- What each sensor shows now, and a log of what it showed when.

create table sensor (
    sensor_id     serial primary key,
    location      varchar not null,
    reading       bigint not null,
    modified_date timestamp not null
);

create table sensor_log (
    sensor_id    bigint not null,
    location     varchar not null,
    reading      bigint not null,
    reading_date timestamp not null
);

create unique index sensor_log_date_sensor on sensor_log (reading_date, sensor_id);

create function stamp_sensor() returns trigger language plpgsql as $$
begin
    new.modified_date := now();
    return new;
end
$$;

create function log_sensor() returns trigger language plpgsql as $$
begin
    insert into sensor_log (sensor_id, location, reading, reading_date)
    values (new.sensor_id, new.location, new.reading, new.modified_date);
    return null;
end
$$;
