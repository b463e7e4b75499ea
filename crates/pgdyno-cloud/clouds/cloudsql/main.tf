# A Cloud SQL server and a driver: the second server of "Benchmark OLTP performance", which AlloyDB's is compared with.

locals {
  # The lab's name ends where two hyphens begin, so that a sweep by name finds one lab only.
  name = "pgdyno-${var.lab}--${var.size}"
  labels = {
    pgdyno-lab     = var.lab
    pgdyno-expires = tostring(var.expires)
  }
  memory_gb = var.memory_gb == 0 ? max(3.75, 6.5 * var.cpu) : var.memory_gb
  # An edition has its own tiers, and refuses those of the other.
  tier = var.edition == "ENTERPRISE" ? "db-custom-${var.cpu}-${local.memory_gb * 1024}" : "db-perf-optimized-N-${var.cpu}"
}

# The name of a deleted server stays blocked for up to a week, so each has a new one.
resource "terraform_data" "suffix" {
  input = substr(uuid(), 0, 8)
  lifecycle {
    ignore_changes = [input]
  }
}

data "google_project" "this" {}

resource "google_sql_database_instance" "server" {
  name                     = "${local.name}-${terraform_data.suffix.output}"
  region                   = var.region
  database_version         = "POSTGRES_${var.postgres_version}"
  deletion_protection      = false
  root_password_wo         = var.password
  root_password_wo_version = 1
  settings {
    tier                        = local.tier
    edition                     = var.edition
    availability_type           = var.availability
    disk_type                   = "PD_SSD"
    disk_size                   = var.storage_gb
    disk_autoresize             = false
    user_labels                 = local.labels
    deletion_protection_enabled = false
    retain_backups_on_delete    = false
    location_preference {
      zone = var.zone
    }
    # A highly available server must have backups and their log.
    backup_configuration {
      enabled                        = var.availability == "REGIONAL"
      point_in_time_recovery_enabled = var.availability == "REGIONAL"
    }
    ip_configuration {
      ipv4_enabled = false
      ssl_mode     = "ENCRYPTED_ONLY"
      psc_config {
        psc_enabled               = true
        allowed_consumer_projects = [data.google_project.this.project_id]
      }
    }
    dynamic "database_flags" {
      for_each = var.flags
      content {
        name  = database_flags.key
        value = database_flags.value
      }
    }
  }
  lifecycle {
    precondition {
      condition     = var.edition == "ENTERPRISE_PLUS" || var.memory_gb == 0 || var.memory_gb >= 0.9 * var.cpu && var.memory_gb <= 6.5 * var.cpu
      error_message = "memory_gb must be 0.9 to 6.5 GB a vCPU."
    }
    precondition {
      condition     = var.edition == "ENTERPRISE" ? var.cpu <= 96 : var.memory_gb == 0 && contains([2, 4, 8, 16, 32, 48, 64, 80, 96, 128], var.cpu)
      error_message = "ENTERPRISE has up to 96 vCPUs; ENTERPRISE_PLUS has 2, 4, 8, 16, 32, 48, 64, 80, 96 or 128, and no memory_gb."
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
  service_attachment = google_sql_database_instance.server.psc_service_attachment_link
}
