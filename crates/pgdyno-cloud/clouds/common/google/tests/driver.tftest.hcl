mock_provider "google" {
  mock_resource "google_compute_instance" {
    defaults = {
      network_interface = { access_config = { nat_ip = "192.0.2.9" } }
    }
  }
}

variables {
  name               = "pgdyno-lab--16vcpu"
  region             = "us-central1"
  zone               = "us-central1-c"
  machine_type       = "e2-standard-32"
  expires            = 1800000000
  ssh_public_key     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF lab"
  client_cidr        = "192.0.2.1/32"
  service_attachment = "projects/1/regions/r/serviceAttachments/s"
}

run "the_driver_ends_by_itself" {
  command = apply
  assert {
    condition     = google_compute_instance.driver[0].scheduling[0].instance_termination_action == "DELETE" && google_compute_instance.driver[0].scheduling[0].termination_time == "2027-01-15T08:45:00Z"
    error_message = "The driver must be deleted when the lab expires."
  }
  assert {
    condition     = google_compute_firewall.ssh[0].source_ranges == toset(["192.0.2.1/32"])
    error_message = "Only the client may use ssh."
  }
  assert {
    condition     = strcontains(google_compute_instance.driver[0].metadata["user-data"], "ssh-ed25519 AAAA") && !strcontains(google_compute_instance.driver[0].metadata["user-data"], "poweroff")
    error_message = "User data must hold the key and no timer."
  }
}

run "a_driver_without_an_address_for_ssh" {
  command = plan
  variables { client_cidr = null }
  expect_failures = [google_compute_firewall.ssh]
}
