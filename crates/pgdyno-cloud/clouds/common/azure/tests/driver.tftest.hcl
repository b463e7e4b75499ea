mock_provider "azurerm" {
  mock_resource "azurerm_public_ip" {
    defaults = { ip_address = "192.0.2.9" }
  }
}

variables {
  name           = "pgdyno-lab--16vcore"
  location       = "westeurope"
  zone           = "1"
  vm_size        = "Standard_D64s_v5"
  tags           = { pgdyno-lab = "lab", pgdyno-expires = "1800000000" }
  expires        = 1800000000
  ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF lab"
  client_cidr    = "192.0.2.1/32"
}

run "a_lab_that_expired" {
  command = apply
  variables { expires = 1600000000 }
  assert {
    condition     = azurerm_dev_test_global_vm_shutdown_schedule.driver[0].enabled && azurerm_dev_test_global_vm_shutdown_schedule.driver[0].daily_recurrence_time == "1311"
    error_message = "The driver must stop 45 minutes after the lab's end."
  }
  assert {
    condition     = one(azurerm_network_security_group.driver[0].security_rule).source_address_prefix == "192.0.2.1/32"
    error_message = "Only the client may use ssh."
  }
  assert {
    condition     = azurerm_resource_group.lab.tags["pgdyno-lab"] == "lab"
    error_message = "A sweep finds the group by its tag."
  }
}

run "a_lab_of_several_days" {
  command = apply
  variables { expires = 4000000000 }
  assert {
    condition     = !azurerm_dev_test_global_vm_shutdown_schedule.driver[0].enabled
    error_message = "A daily schedule would stop the driver days before the lab's end."
  }
}

run "a_driver_without_an_address_for_ssh" {
  command = plan
  variables { client_cidr = null }
  expect_failures = [azurerm_network_security_group.driver]
}
