# Plans and applies with values that no cloud has computed.

mock_provider "alicloud" {
  mock_data "alicloud_images" {
    defaults = {
      images = [{ id = "ubuntu_24_04_x64_20G_alibase.vhd" }]
    }
  }
  mock_resource "alicloud_instance" {
    defaults = { public_ip = "192.0.2.9" }
  }
  mock_resource "alicloud_polardb_cluster" {
    defaults = { id = "pc-1234" }
  }
}

override_data {
  target = data.alicloud_polardb_endpoints.server
  values = {
    endpoints = [
      { db_endpoint_id = "1", endpoint_type = "Cluster", nodes = "", read_write_mode = "", auto_add_new_nodes = "", endpoint_config = "", address_items = [{ net_type = "Private", connection_string = "cluster.example", port = "1521", ip_address = "", vpc_id = "", vswitch_id = "" }] },
      { db_endpoint_id = "2", endpoint_type = "Primary", nodes = "", read_write_mode = "", auto_add_new_nodes = "", endpoint_config = "", address_items = [{ net_type = "Private", connection_string = "primary.example", port = "1521", ip_address = "", vpc_id = "", vswitch_id = "" }] },
    ]
  }
}

variables {
  region         = "ap-southeast-1"
  zone           = "ap-southeast-1b"
  lab            = "lab-1"
  size           = "x8-4xlarge"
  node_class     = "polar.o.x8.4xlarge"
  cpu            = 32
  expires        = 1800000000
  ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF lab"
  client_cidr    = "192.0.2.1/32"
  password       = "topsecret99"
  account        = false
}

run "the_white_papers_cluster" {
  command = apply
  assert {
    condition     = alicloud_polardb_cluster.server.db_type == "Oracle" && alicloud_polardb_cluster.server.db_node_count == 2 && alicloud_polardb_cluster.server.deletion_lock == 0
    error_message = "One primary and one read-only node, and destroyable."
  }
  assert {
    condition     = alicloud_instance.driver[0].instance_type == "ecs.g5.16xlarge" && alicloud_instance.driver[0].auto_release_time == "2027-01-15T08:45:00Z"
    error_message = "The white paper's driver, which is deleted 45 minutes after the lab expires."
  }
  assert {
    condition     = alicloud_security_group_rule.ssh[0].cidr_ip == "192.0.2.1/32" && !strcontains(base64decode(alicloud_instance.driver[0].user_data), "topsecret99")
    error_message = "Only the client may use ssh, and user data must hold no password."
  }
  assert {
    condition     = output.pgdyno == { host = "primary.example", port = 1521, user = "pgdyno", database = "postgres", driver = { host = "192.0.2.9", user = "pgdyno" }, cores = 32, sslmode = "disable", instance = "pc-1234" }
    error_message = "The output must be the contract's, with the primary's address."
  }
}

run "postgresql_with_settings" {
  command = plan
  variables {
    node_class       = "polar.pg.x4.large"
    cpu              = 4
    postgres_version = 16
    settings         = { enable_hashjoin = "off" }
  }
  assert {
    condition     = alicloud_polardb_cluster.server.db_type == "PostgreSQL" && one(alicloud_polardb_cluster.server.parameters).name == "enable_hashjoin"
    error_message = "polar.pg is PostgreSQL."
  }
}

run "a_version_that_the_class_does_not_have" {
  command = plan
  variables { postgres_version = 16 }
  expect_failures = [alicloud_polardb_cluster.server]
}

run "a_class_that_does_not_exist" {
  command = plan
  variables { node_class = "polar.mysql.x8.xlarge" }
  expect_failures = [var.node_class]
}
