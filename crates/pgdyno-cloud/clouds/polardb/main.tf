# A PolarDB cluster, one primary and one read-only node, and a driver: the servers of the PolarDB white paper.

locals {
  name = "pgdyno-${var.lab}-${var.size}"
  tags = {
    pgdyno-lab     = var.lab
    pgdyno-expires = tostring(var.expires)
  }
  driver = var.ssh_public_key == null ? 0 : 1
}

resource "alicloud_vpc" "net" {
  vpc_name   = local.name
  cidr_block = "10.13.0.0/16"
  tags       = local.tags
}

resource "alicloud_vswitch" "zone" {
  vswitch_name = local.name
  vpc_id       = alicloud_vpc.net.id
  zone_id      = var.zone
  cidr_block   = "10.13.0.0/24"
  tags         = local.tags
}

resource "alicloud_polardb_cluster" "server" {
  description                                 = local.name
  db_type                                     = startswith(var.node_class, "polar.o.") ? "Oracle" : "PostgreSQL"
  db_version                                  = tostring(var.postgres_version)
  db_node_class                               = var.node_class
  db_node_count                               = var.nodes
  pay_type                                    = "PostPaid"
  vswitch_id                                  = alicloud_vswitch.zone.id
  deletion_lock                               = 0
  backup_retention_policy_on_cluster_deletion = "NONE"
  tags                                        = local.tags
  db_cluster_ip_array {
    db_cluster_ip_array_name = "default"
    security_ips             = [alicloud_vswitch.zone.cidr_block]
  }
  dynamic "parameters" {
    for_each = var.settings
    content {
      name  = parameters.key
      value = parameters.value
    }
  }
  lifecycle {
    precondition {
      condition     = !startswith(var.node_class, "polar.o.") || contains([11, 14], var.postgres_version)
      error_message = "Classes polar.o have postgres_version 11 or 14."
    }
  }
}

# The provider's account has no write-only password: it would be in the state. A program beside this file makes the account,
# with the password in its environment and in the body of the request.
resource "terraform_data" "account" {
  count            = var.account ? 1 : 0
  triggers_replace = [alicloud_polardb_cluster.server.id]
  provisioner "local-exec" {
    command = "python3 \"$PGDYNO_ACCOUNT\""
    environment = {
      PGDYNO_ACCOUNT  = "${path.module}/account.py"
      PGDYNO_REGION   = var.region
      PGDYNO_CLUSTER  = alicloud_polardb_cluster.server.id
      PGDYNO_PASSWORD = var.password
    }
  }
}

data "alicloud_polardb_endpoints" "server" {
  db_cluster_id = alicloud_polardb_cluster.server.id
}

locals {
  # The cluster's own endpoint distributes reads; the white paper measures the primary.
  primary = one([
    for address in flatten([for each in data.alicloud_polardb_endpoints.server.endpoints : each.address_items if each.endpoint_type == "Primary"]) :
    address if address.net_type == "Private"
  ])
}

resource "alicloud_security_group" "driver" {
  security_group_name = local.name
  vpc_id              = alicloud_vpc.net.id
  tags                = local.tags
}

resource "alicloud_security_group_rule" "ssh" {
  count             = local.driver
  type              = "ingress"
  policy            = "accept"
  ip_protocol       = "tcp"
  port_range        = "22/22"
  cidr_ip           = var.client_cidr
  security_group_id = alicloud_security_group.driver.id
  lifecycle {
    precondition {
      condition     = var.client_cidr != null
      error_message = "A driver needs client_cidr, the address from which ssh is allowed."
    }
  }
}

data "alicloud_images" "ubuntu" {
  owners      = "system"
  name_regex  = "^ubuntu_24_04_x64"
  most_recent = true
}

resource "alicloud_instance" "driver" {
  count                      = local.driver
  instance_name              = "${local.name}-driver"
  instance_type              = var.driver
  image_id                   = data.alicloud_images.ubuntu.images[0].id
  vswitch_id                 = alicloud_vswitch.zone.id
  security_groups            = [alicloud_security_group.driver.id]
  instance_charge_type       = "PostPaid"
  internet_charge_type       = "PayByTraffic"
  internet_max_bandwidth_out = 100
  system_disk_category       = "cloud_essd"
  system_disk_size           = 128
  # The machine is deleted 45 minutes after the lab expires, when its results have been fetched.
  auto_release_time = timeadd("1970-01-01T00:00:00Z", "${var.expires + 2700}s")
  tags              = local.tags
  volume_tags       = local.tags
  user_data = base64encode(templatefile("${path.module}/../common/driver.yaml.tftpl", {
    ssh_public_key = trimspace(var.ssh_public_key)
    powers_off     = false
    expires        = 0
  }))
  lifecycle {
    # A newer image would replace the system disk, and with it the run.
    ignore_changes = [image_id]
  }
}
