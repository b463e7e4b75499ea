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
  size            = "16vcore"
  cpu             = 16
}

run "one_server" {
  command = apply
  assert {
    condition     = azurerm_postgresql_flexible_server.server.sku_name == "MO_Standard_E16ds_v5" && azurerm_postgresql_flexible_server.server.storage_mb == 524288
    error_message = "16 vCores with 8 GB each, and 512 GB of storage."
  }
  assert {
    condition     = length(azurerm_postgresql_flexible_server.server.cluster) == 0 && !azurerm_postgresql_flexible_server.server.public_network_access_enabled
    error_message = "A single server, without a public address."
  }
  assert {
    condition     = output.pgdyno.host == "s.postgres.database.azure.com" && output.pgdyno.driver == { host = "192.0.2.9", user = "pgdyno" } && output.pgdyno.cores == 16 && output.pgdyno.sslmode == "require"
    error_message = "The output must be the contract's."
  }
}

run "an_elastic_cluster_of_4" {
  command = apply
  variables {
    size     = "4x8vcore"
    cpu      = 8
    nodes    = 4
    settings = { work_mem = "16384" }
  }
  assert {
    condition     = azurerm_postgresql_flexible_server.server.cluster[0].size == 4 && output.pgdyno.cores == 32
    error_message = "4 nodes of 8 vCores are 32."
  }
  assert {
    condition     = azurerm_postgresql_flexible_server_configuration.setting["work_mem"].value == "16384"
    error_message = "Settings are set."
  }
}

run "no_key_no_driver" {
  command = apply
  variables {
    ssh_public_key = null
    client_cidr    = null
    availability   = "ZONE_REDUNDANT"
  }
  assert {
    condition     = output.pgdyno.driver == null && azurerm_postgresql_flexible_server.server.high_availability[0].mode == "ZoneRedundant"
    error_message = "Without a key there must be no driver."
  }
}

run "an_elastic_cluster_of_an_old_version" {
  command = plan
  variables {
    nodes            = 2
    postgres_version = 16
  }
  expect_failures = [azurerm_postgresql_flexible_server.server]
}

run "too_many_nodes" {
  command = plan
  variables { nodes = 21 }
  expect_failures = [var.nodes]
}

run "a_size_that_does_not_exist" {
  command = plan
  variables { cpu = 24 }
  expect_failures = [var.cpu]
}
