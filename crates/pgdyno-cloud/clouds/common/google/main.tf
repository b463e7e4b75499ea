# Network, driver and private endpoint of the modules on Google Cloud. The endpoint is Private Service Connect: a peering
# cannot be deleted while the service still uses it, and that outlasts the server.

terraform {
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.0"
    }
  }
}

variable "name" { type = string }
variable "region" { type = string }
variable "zone" { type = string }
variable "machine_type" { type = string }
variable "expires" { type = number }
variable "ssh_public_key" { type = string }
variable "client_cidr" { type = string }
variable "service_attachment" { type = string }

locals {
  driver = var.ssh_public_key == null ? 0 : 1
}

resource "google_compute_network" "net" {
  name                    = var.name
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "sub" {
  name          = var.name
  region        = var.region
  network       = google_compute_network.net.id
  ip_cidr_range = "10.13.0.0/24"
}

resource "google_compute_firewall" "ssh" {
  count         = local.driver
  name          = "${var.name}-ssh"
  network       = google_compute_network.net.id
  source_ranges = [var.client_cidr]
  allow {
    protocol = "tcp"
    ports    = ["22"]
  }
  lifecycle {
    precondition {
      condition     = var.client_cidr != null
      error_message = "A driver needs client_cidr, the address from which ssh is allowed."
    }
  }
}

resource "google_compute_address" "server" {
  name         = "${var.name}-server"
  region       = var.region
  address_type = "INTERNAL"
  subnetwork   = google_compute_subnetwork.sub.id
}

resource "google_compute_forwarding_rule" "server" {
  name                  = "${var.name}-server"
  region                = var.region
  network               = google_compute_network.net.id
  ip_address            = google_compute_address.server.id
  load_balancing_scheme = ""
  target                = var.service_attachment
}

resource "google_compute_instance" "driver" {
  count        = local.driver
  name         = "${var.name}-driver"
  machine_type = var.machine_type
  zone         = var.zone
  boot_disk {
    initialize_params {
      # Images of Debian have no cloud-init on this cloud; those of Ubuntu do.
      image = "ubuntu-os-cloud/ubuntu-2404-lts-amd64"
      size  = 128
      type  = "pd-ssd"
    }
  }
  network_interface {
    subnetwork = google_compute_subnetwork.sub.id
    access_config {}
  }
  # 45 minutes after the lab expires, when its results have been fetched.
  scheduling {
    provisioning_model          = "STANDARD"
    automatic_restart           = false
    instance_termination_action = "DELETE"
    termination_time            = timeadd("1970-01-01T00:00:00Z", "${var.expires + 2700}s")
  }
  metadata = {
    user-data = templatefile("${path.module}/../driver.yaml.tftpl", {
      ssh_public_key = trimspace(var.ssh_public_key)
      powers_off     = false
      expires        = 0
    })
    block-project-ssh-keys = "true"
  }
  lifecycle {
    # Another end would replace the machine, and with it the run.
    ignore_changes = [scheduling]
  }
}

output "host" {
  value = google_compute_address.server.address
}

output "driver" {
  value = one([for driver in google_compute_instance.driver :
  { host = driver.network_interface[0].access_config[0].nat_ip, user = "pgdyno" }])
}
