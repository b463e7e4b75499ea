# An AlloyDB cluster with one primary and no read pool, and a driver: the servers of "Benchmark OLTP performance on AlloyDB for
# PostgreSQL".

locals {
  # The lab's name ends where two hyphens begin, so that a sweep by name finds one lab only.
  name = "pgdyno-${var.lab}--${var.size}"
  labels = {
    pgdyno-lab     = var.lab
    pgdyno-expires = tostring(var.expires)
  }
}

data "google_project" "this" {}

resource "google_alloydb_cluster" "server" {
  cluster_id          = local.name
  location            = var.region
  database_version    = "POSTGRES_${var.postgres_version}"
  deletion_protection = false
  deletion_policy     = "FORCE"
  psc_config {
    psc_enabled = true
  }
  initial_user {
    user                = "postgres"
    password_wo         = var.password
    password_wo_version = 1
  }
  # Backups would run during the measurement and outlast the lab.
  automated_backup_policy {
    enabled = false
  }
  continuous_backup_config {
    enabled = false
  }
}

resource "google_alloydb_instance" "primary" {
  cluster           = google_alloydb_cluster.server.name
  instance_id       = "primary"
  instance_type     = "PRIMARY"
  availability_type = var.availability
  gce_zone          = var.availability == "ZONAL" ? var.zone : null
  database_flags    = var.flags
  machine_config {
    cpu_count    = var.cpu
    machine_type = var.machine_type
  }
  psc_instance_config {
    allowed_consumer_projects = [data.google_project.this.number]
  }
  client_connection_config {
    ssl_config {
      ssl_mode = "ENCRYPTED_ONLY"
    }
  }
}

module "driver" {
  source             = "../common/google"
  name               = local.name
  region             = var.region
  zone               = var.zone
  machine_type       = var.driver
  expires            = var.expires
  ssh_public_key     = var.ssh_public_key
  client_cidr        = var.client_cidr
  service_attachment = google_alloydb_instance.primary.psc_instance_config[0].service_attachment_link
}
