# Plans and applies with values that no cloud has computed.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { project_id = "bench-project" }
  }
  mock_resource "google_sql_database_instance" {
    defaults = { psc_service_attachment_link = "projects/1/regions/r/serviceAttachments/s" }
  }
  mock_resource "google_compute_address" {
    defaults = { address = "10.13.0.7" }
  }
  mock_resource "google_compute_instance" {
    defaults = {
      network_interface = { access_config = { nat_ip = "192.0.2.9" } }
    }
  }
}

variables {
  project        = "bench-project"
  region         = "us-central1"
  zone           = "us-central1-c"
  lab            = "lab-1"
  size           = "16vcpu"
  cpu            = 16
  expires        = 1800000000
  ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF lab"
  client_cidr    = "192.0.2.1/32"
  password       = "topsecret99"
}

run "the_guides_server" {
  command = apply
  assert {
    condition     = google_sql_database_instance.server.settings[0].tier == "db-custom-16-106496"
    error_message = "The guide has 16 vCPUs and 104 GB."
  }
  assert {
    condition     = google_sql_database_instance.server.settings[0].disk_size == 1500 && google_sql_database_instance.server.settings[0].availability_type == "REGIONAL" && google_sql_database_instance.server.database_version == "POSTGRES_14"
    error_message = "The guide has 1,500 GB, high availability and PostgreSQL 14."
  }
  assert {
    condition     = google_sql_database_instance.server.settings[0].backup_configuration[0].enabled && google_sql_database_instance.server.settings[0].backup_configuration[0].point_in_time_recovery_enabled
    error_message = "A regional server is refused without backups."
  }
  assert {
    condition     = !google_sql_database_instance.server.deletion_protection && !google_sql_database_instance.server.settings[0].deletion_protection_enabled && !google_sql_database_instance.server.settings[0].retain_backups_on_delete
    error_message = "The server must be destroyable, with its backups."
  }
  assert {
    condition     = can(regex("^pgdyno-lab-1--16vcpu-[0-9a-f]{8}$", google_sql_database_instance.server.name)) && output.pgdyno.instance == google_sql_database_instance.server.name
    error_message = "Each server needs a name of its own."
  }
  assert {
    condition     = output.pgdyno.host == "10.13.0.7" && output.pgdyno.driver == { host = "192.0.2.9", user = "pgdyno" } && output.pgdyno.cores == 16 && output.pgdyno.sslmode == "require"
    error_message = "The output must be the contract's."
  }
}

run "a_later_end_keeps_the_server" {
  command = apply
  variables { expires = 1800003600 }
  assert {
    condition     = google_sql_database_instance.server.name == run.the_guides_server.pgdyno.instance && google_sql_database_instance.server.settings[0].user_labels["pgdyno-expires"] == "1800003600"
    error_message = "Only the label may change."
  }
}

run "the_other_edition" {
  command = plan
  variables {
    edition          = "ENTERPRISE_PLUS"
    postgres_version = 17
    availability     = "ZONAL"
    flags            = { work_mem = "16384" }
  }
  assert {
    condition     = google_sql_database_instance.server.settings[0].tier == "db-perf-optimized-N-16" && !google_sql_database_instance.server.settings[0].backup_configuration[0].enabled
    error_message = "An edition has its own tiers; a zonal server has no backups."
  }
}

run "too_much_memory" {
  command = plan
  variables { memory_gb = 128 }
  expect_failures = [google_sql_database_instance.server]
}

run "an_odd_number_of_cpus" {
  command = plan
  variables { cpu = 17 }
  expect_failures = [var.cpu]
}

run "a_version_that_does_not_exist" {
  command = plan
  variables { postgres_version = 12 }
  expect_failures = [var.postgres_version]
}
