# Plans and applies with values that no cloud has computed.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
  mock_resource "google_alloydb_instance" {
    defaults = {
      psc_instance_config = { service_attachment_link = "projects/1/regions/r/serviceAttachments/s" }
    }
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
    condition     = google_alloydb_instance.primary.machine_config[0].cpu_count == 16 && google_alloydb_instance.primary.availability_type == "REGIONAL"
    error_message = "The guide has 16 vCPUs in several zones."
  }
  assert {
    condition     = google_alloydb_cluster.server.database_version == "POSTGRES_15"
    error_message = "The guide has PostgreSQL 15."
  }
  assert {
    condition     = google_alloydb_cluster.server.deletion_protection == false && google_alloydb_cluster.server.deletion_policy == "FORCE"
    error_message = "The cluster must be destroyable."
  }
  assert {
    condition     = output.pgdyno == { host = "10.13.0.7", port = 5432, user = "postgres", database = "postgres", driver = { host = "192.0.2.9", user = "pgdyno" }, cores = 16, sslmode = "require", instance = "pgdyno-lab-1--16vcpu" }
    error_message = "The output must be the contract's."
  }
}

run "a_zonal_server_of_64" {
  command = apply
  variables {
    size         = "64vcpu"
    cpu          = 64
    availability = "ZONAL"
    driver       = "n2-standard-64"
    flags        = { work_mem = "16384" }
  }
  assert {
    condition     = google_alloydb_instance.primary.gce_zone == "us-central1-c" && google_alloydb_instance.primary.database_flags["work_mem"] == "16384"
    error_message = "A zonal primary must be in the driver's zone."
  }
}

run "no_key_no_driver" {
  command = apply
  variables {
    size           = "2vcpu"
    cpu            = 2
    ssh_public_key = null
    client_cidr    = null
  }
  assert {
    condition     = output.pgdyno.driver == null
    error_message = "Without a key there must be no driver."
  }
}

run "a_name_that_another_labs_sweep_would_find" {
  command = plan
  variables { lab = "lab--1" }
  expect_failures = [var.lab]
}

run "a_size_that_does_not_exist" {
  command = plan
  variables { cpu = 17 }
  expect_failures = [var.cpu]
}

run "a_version_that_does_not_exist" {
  command = plan
  variables { postgres_version = 13 }
  expect_failures = [var.postgres_version]
}

run "ssh_from_anywhere" {
  command = plan
  variables { client_cidr = "0.0.0.0/0" }
  expect_failures = [var.client_cidr]
}
