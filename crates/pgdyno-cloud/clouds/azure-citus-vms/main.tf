# Citus on virtual machines: a coordinator and workers of another size, as c4+2w8 in "How to benchmark performance of Citus and
# Postgres with HammerDB on Azure", and a driver. The service that the guide used takes no new deployments.

locals {
  name = "pgdyno-${var.lab}--${var.size}"
  tags = {
    pgdyno-lab     = var.lab
    pgdyno-expires = tostring(var.expires)
  }
  # Series by memory for each vCore.
  series = { 4 = "D", 8 = "E" }
  nodes = merge(
    { coordinator = { address = "10.13.1.10", cpu = var.cpu, memory_per_cpu_gb = var.memory_per_cpu_gb } },
    { for nth in range(1, var.workers + 1) : "worker-${nth}" => {
      address           = "10.13.1.${nth + 10}"
      cpu               = var.worker_cpu
      memory_per_cpu_gb = var.worker_memory_per_cpu_gb
    } },
  )
  workers = [for name, node in local.nodes : node.address if name != "coordinator"]
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

# Nodes have no address outside; they fetch their packages by the subnet's own way out.
resource "azurerm_subnet" "nodes" {
  name                            = "nodes"
  resource_group_name             = module.driver.resource_group
  virtual_network_name            = module.driver.network.name
  address_prefixes                = ["10.13.1.0/24"]
  default_outbound_access_enabled = true
}

resource "azurerm_network_interface" "node" {
  for_each                       = local.nodes
  name                           = each.key
  resource_group_name            = module.driver.resource_group
  location                       = var.location
  accelerated_networking_enabled = true
  tags                           = local.tags
  ip_configuration {
    name                          = "ip"
    subnet_id                     = azurerm_subnet.nodes.id
    private_ip_address_allocation = "Static"
    private_ip_address            = each.value.address
  }
}

resource "azurerm_linux_virtual_machine" "node" {
  for_each              = local.nodes
  name                  = each.key
  resource_group_name   = module.driver.resource_group
  location              = var.location
  zone                  = var.zone
  size                  = "Standard_${local.series[each.value.memory_per_cpu_gb]}${each.value.cpu}ds_v5"
  admin_username        = "pgdyno"
  network_interface_ids = [azurerm_network_interface.node[each.key].id]
  tags                  = local.tags
  custom_data = base64encode(templatefile("${path.module}/cloud-init.yaml.tftpl", {
    ssh_public_key = trimspace(local.key)
    citus_version  = var.citus_version
    memory_mb      = each.value.cpu * each.value.memory_per_cpu_gb * 1024
    settings       = var.settings
    address        = each.value.address
    workers        = each.key == "coordinator" ? local.workers : []
    is_coordinator = each.key == "coordinator"
  }))
  admin_ssh_key {
    username   = "pgdyno"
    public_key = local.key
  }
  os_disk {
    caching              = "ReadOnly"
    storage_account_type = "Premium_LRS"
    disk_size_gb         = var.storage_gb
  }
  source_image_reference {
    publisher = "Canonical"
    offer     = "ubuntu-24_04-lts"
    sku       = "server"
    version   = "latest"
  }
  lifecycle {
    precondition {
      condition     = var.ssh_public_key != null
      error_message = "Nodes and driver need ssh_public_key."
    }
  }
}

locals {
  # A plan without a key ends with the condition above, not with an error here.
  key = var.ssh_public_key == null ? "" : var.ssh_public_key
}
