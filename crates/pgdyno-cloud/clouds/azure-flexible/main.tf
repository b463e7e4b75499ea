# Azure Database for PostgreSQL, Flexible Server: one server, or an elastic cluster. The guide's service, Azure Cosmos DB for
# PostgreSQL, takes no new deployments; this is its successor. All of its nodes have one size: for c4+2w8 see azure-citus-vms.

locals {
  name = "pgdyno-${var.lab}--${var.size}"
  tags = {
    pgdyno-lab     = var.lab
    pgdyno-expires = tostring(var.expires)
  }
  sku = var.memory_per_cpu_gb == 8 ? "MO_Standard_E${var.cpu}ds_v5" : "GP_Standard_D${var.cpu}ds_v5"
}

# The name of a server is unique in all of Azure.
resource "terraform_data" "suffix" {
  input = substr(uuid(), 0, 8)
  lifecycle {
    ignore_changes = [input]
  }
}

module "driver" {
  source         = "../common/azure"
  name           = local.name
  location       = var.location
  zone           = var.zone
  vm_size        = var.driver
  expires        = var.expires
  tags           = local.tags
  ssh_public_key = var.ssh_public_key
  client_cidr    = var.client_cidr
}

resource "azurerm_subnet" "server" {
  name                 = "server"
  resource_group_name  = module.driver.resource_group
  virtual_network_name = module.driver.network.name
  address_prefixes     = ["10.13.1.0/24"]
  delegation {
    name = "postgres"
    service_delegation {
      name    = "Microsoft.DBforPostgreSQL/flexibleServers"
      actions = ["Microsoft.Network/virtualNetworks/subnets/join/action"]
    }
  }
}

resource "azurerm_private_dns_zone" "server" {
  name                = "${local.name}.private.postgres.database.azure.com"
  resource_group_name = module.driver.resource_group
  tags                = local.tags
}

resource "azurerm_private_dns_zone_virtual_network_link" "server" {
  name                = "server"
  private_dns_zone_id = azurerm_private_dns_zone.server.id
  virtual_network_id  = module.driver.network.id
  tags                = local.tags
}

resource "azurerm_postgresql_flexible_server" "server" {
  name                              = "pgdyno-${var.lab}-${var.size}-${terraform_data.suffix.output}"
  resource_group_name               = module.driver.resource_group
  location                          = var.location
  zone                              = var.zone
  version                           = tostring(var.postgres_version)
  sku_name                          = local.sku
  storage_mb                        = var.storage_gb * 1024
  auto_grow_enabled                 = false
  delegated_subnet_id               = azurerm_subnet.server.id
  private_dns_zone_id               = azurerm_private_dns_zone.server.id
  public_network_access_enabled     = false
  administrator_login               = "pgdyno"
  administrator_password_wo         = var.password
  administrator_password_wo_version = 1
  backup_retention_days             = 7
  tags                              = local.tags
  dynamic "cluster" {
    for_each = var.nodes > 0 ? [var.nodes] : []
    content {
      size = cluster.value
    }
  }
  dynamic "high_availability" {
    for_each = var.availability == "NONE" ? [] : [var.availability]
    content {
      mode = high_availability.value == "SAME_ZONE" ? "SameZone" : "ZoneRedundant"
    }
  }
  depends_on = [azurerm_private_dns_zone_virtual_network_link.server]
  lifecycle {
    precondition {
      condition     = var.nodes == 0 || var.postgres_version >= 17
      error_message = "An elastic cluster needs postgres_version 17 or newer."
    }
    precondition {
      condition     = var.cpu != 20 || var.memory_per_cpu_gb == 8
      error_message = "20 vCores need memory_per_cpu_gb = 8."
    }
  }
}

resource "azurerm_postgresql_flexible_server_configuration" "setting" {
  for_each  = var.settings
  name      = each.key
  server_id = azurerm_postgresql_flexible_server.server.id
  value     = each.value
}
