# Plans and applies with values that no cloud has computed.

mock_provider "azurerm" {
  mock_resource "azurerm_postgresql_flexible_server" {
    defaults = { id = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers/Microsoft.DBforPostgreSQL/flexibleServers/s", fqdn = "s.postgres.database.azure.com" }
  }
  mock_resource "azurerm_public_ip" {
    defaults = { ip_address = "192.0.2.9" }
  }
  mock_resource "azurerm_network_interface" {
    defaults = { private_ip_address = "10.13.0.4" }
  }
}

variables {
  subscription_id = "00000000-0000-0000-0000-000000000000"
  location        = "westeurope"
  lab             = "lab-1"
  expires         = 1800000000
  ssh_public_key  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF lab"
  client_cidr     = "192.0.2.1/32"
  password        = "topsecret99"
  size            = "c4-2w8"
  cpu             = 4
  workers         = 2
  worker_cpu      = 8
}

run "c4_and_2w8" {
  command = apply
  assert {
    condition     = { for name, node in azurerm_linux_virtual_machine.node : name => node.size } == { coordinator = "Standard_D4ds_v5", worker-1 = "Standard_E8ds_v5", worker-2 = "Standard_E8ds_v5" }
    error_message = "A coordinator of 4 vCores and 2 workers of 8."
  }
  assert {
    condition     = { for key, value in output.pgdyno : key => value if key != "nodes" } == { host = "10.13.1.10", port = 5432, user = "pgdyno", database = "pgdyno", driver = { host = "192.0.2.9", user = "pgdyno" }, cores = 20, sslmode = "require", instance = azurerm_linux_virtual_machine.node["coordinator"].id }
    error_message = "The output must be the contract's, with 4 + 2 x 8 cores."
  }
  assert {
    condition     = [for node in output.pgdyno.nodes : node.cores] == [4, 8, 8] && output.pgdyno.nodes[2].instance == azurerm_linux_virtual_machine.node["worker-2"].id
    error_message = "The monitoring is asked for each node."
  }
  assert {
    condition     = strcontains(base64decode(azurerm_linux_virtual_machine.node["coordinator"].custom_data), "for worker in 10.13.1.11 10.13.1.12; do")
    error_message = "The coordinator adds both workers."
  }
  assert {
    condition     = strcontains(base64decode(azurerm_linux_virtual_machine.node["worker-2"].custom_data), "shared_buffers = '16384MB'") && !strcontains(base64decode(azurerm_linux_virtual_machine.node["worker-2"].custom_data), "citus_add_node")
    error_message = "A worker of 64 GB has a quarter of it as shared_buffers, and adds no node."
  }
  assert {
    condition     = length([for node in azurerm_linux_virtual_machine.node : node if strcontains(base64decode(node.custom_data), "topsecret99")]) == 0
    error_message = "User data must hold no password."
  }
}

run "the_guides_704_vcores" {
  command = apply
  variables {
    size              = "c64-20w32"
    cpu               = 64
    memory_per_cpu_gb = 4
    workers           = 20
    worker_cpu        = 32
    storage_gb        = 2048
    settings          = { work_mem = "16MB", max_connections = "12000", "citus.max_shared_pool_size" = "12000" }
  }
  assert {
    condition     = output.pgdyno.cores == 704 && length(azurerm_linux_virtual_machine.node) == 21
    error_message = "64 + 20 x 32 vCores."
  }
  assert {
    condition     = strcontains(base64decode(azurerm_linux_virtual_machine.node["worker-20"].custom_data), "citus.max_shared_pool_size = '12000'")
    error_message = "Settings are of every node."
  }
}

run "a_setting_that_ends_its_line" {
  command = plan
  variables { settings = { work_mem = "16MB'\nlisten_addresses = '*" } }
  expect_failures = [var.settings]
}

run "nodes_without_a_key" {
  command = plan
  variables {
    ssh_public_key = null
    client_cidr    = null
  }
  expect_failures = [azurerm_linux_virtual_machine.node]
}

run "no_worker" {
  command = plan
  variables { workers = 0 }
  expect_failures = [var.workers]
}
