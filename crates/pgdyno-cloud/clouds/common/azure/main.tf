# Resource group, network and driver of the modules on Azure. The group is the unit of teardown: what is in it goes with it.

terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 5.0"
    }
  }
}

variable "name" { type = string }
variable "location" { type = string }
variable "zone" { type = string }
variable "vm_size" { type = string }
variable "expires" { type = number }
variable "tags" { type = map(string) }
variable "ssh_public_key" { type = string }
variable "client_cidr" { type = string }

# A driver ends 45 minutes after the lab expires, when its results have been fetched.
locals {
  driver     = var.ssh_public_key == null ? 0 : 1
  expires_at = timeadd("1970-01-01T00:00:00Z", "${var.expires + 2700}s")
}

resource "azurerm_resource_group" "lab" {
  name     = var.name
  location = var.location
  tags     = var.tags
}

resource "azurerm_virtual_network" "net" {
  name                = "net"
  resource_group_name = azurerm_resource_group.lab.name
  location            = var.location
  address_space       = ["10.13.0.0/16"]
  tags                = var.tags
}

resource "azurerm_subnet" "driver" {
  name                 = "driver"
  resource_group_name  = azurerm_resource_group.lab.name
  virtual_network_name = azurerm_virtual_network.net.name
  address_prefixes     = ["10.13.0.0/24"]
}

resource "azurerm_public_ip" "driver" {
  count               = local.driver
  name                = "driver"
  resource_group_name = azurerm_resource_group.lab.name
  location            = var.location
  allocation_method   = "Static"
  sku                 = "Standard"
  tags                = var.tags
}

resource "azurerm_network_security_group" "driver" {
  count               = local.driver
  name                = "driver"
  resource_group_name = azurerm_resource_group.lab.name
  location            = var.location
  tags                = var.tags
  # Every other connection from outside is refused by Azure's own rules.
  security_rule = [{
    name                                       = "ssh"
    description                                = "ssh from the client"
    priority                                   = 300
    direction                                  = "Inbound"
    access                                     = "Allow"
    protocol                                   = "Tcp"
    source_address_prefix                      = var.client_cidr
    source_port_range                          = "*"
    destination_address_prefix                 = "*"
    destination_port_range                     = "22"
    source_address_prefixes                    = null
    source_port_ranges                         = null
    source_application_security_group_ids      = null
    destination_address_prefixes               = null
    destination_port_ranges                    = null
    destination_application_security_group_ids = null
  }]
  lifecycle {
    precondition {
      condition     = var.client_cidr != null
      error_message = "A driver needs client_cidr, the address from which ssh is allowed."
    }
  }
}

resource "azurerm_network_interface" "driver" {
  count                          = local.driver
  name                           = "driver"
  resource_group_name            = azurerm_resource_group.lab.name
  location                       = var.location
  accelerated_networking_enabled = true
  tags                           = var.tags
  ip_configuration {
    name                          = "ip"
    subnet_id                     = azurerm_subnet.driver.id
    private_ip_address_allocation = "Dynamic"
    public_ip_address_id          = azurerm_public_ip.driver[0].id
  }
}

resource "azurerm_network_interface_security_group_association" "driver" {
  count                     = local.driver
  network_interface_id      = azurerm_network_interface.driver[0].id
  network_security_group_id = azurerm_network_security_group.driver[0].id
}

resource "azurerm_linux_virtual_machine" "driver" {
  count                 = local.driver
  name                  = "driver"
  resource_group_name   = azurerm_resource_group.lab.name
  location              = var.location
  zone                  = var.zone
  size                  = var.vm_size
  admin_username        = "pgdyno"
  network_interface_ids = [azurerm_network_interface.driver[0].id]
  tags                  = var.tags
  custom_data = base64encode(templatefile("${path.module}/../driver.yaml.tftpl", {
    ssh_public_key = trimspace(var.ssh_public_key)
    powers_off     = false
    expires        = 0
  }))
  admin_ssh_key {
    username   = "pgdyno"
    public_key = var.ssh_public_key
  }
  os_disk {
    caching              = "ReadWrite"
    storage_account_type = "Premium_LRS"
    disk_size_gb         = 128
  }
  source_image_reference {
    publisher = "Canonical"
    offer     = "ubuntu-24_04-lts"
    sku       = "server"
    version   = "latest"
  }
  # ssh answers only where it is allowed.
  depends_on = [azurerm_network_interface_security_group_association.driver]
}

# Azure stops a machine at a time of the day, and deletes none. The first such time is the driver's end only in its last 24 hours.
resource "azurerm_dev_test_global_vm_shutdown_schedule" "driver" {
  count                 = local.driver
  virtual_machine_id    = azurerm_linux_virtual_machine.driver[0].id
  location              = var.location
  timezone              = "UTC"
  daily_recurrence_time = formatdate("hhmm", local.expires_at)
  enabled               = timecmp(plantimestamp(), timeadd(local.expires_at, "-24h")) >= 0
  tags                  = var.tags
  notification_settings {
    enabled = false
  }
}

output "resource_group" {
  value = azurerm_resource_group.lab.name
}

output "network" {
  value = { name = azurerm_virtual_network.net.name, id = azurerm_virtual_network.net.id }
}

output "driver" {
  value = one([for address in azurerm_public_ip.driver : { host = address.ip_address, user = "pgdyno" }])
}

output "driver_address" {
  value = one(azurerm_network_interface.driver[*].private_ip_address)
}
