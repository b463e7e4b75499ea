# Plans and applies with values that no cloud has computed.

mock_provider "aws" {
  mock_resource "aws_db_instance" {
    defaults = { address = "pgdyno.rds.example" }
  }
  mock_resource "aws_instance" {
    defaults = { public_ip = "192.0.2.9" }
  }
}

variables {
  region         = "eu-central-1"
  zone           = "eu-central-1a"
  other_zone     = "eu-central-1b"
  lab            = "lab-1"
  size           = "16vcpu"
  cpu            = 16
  instance_class = "db.r6i.4xlarge"
  expires        = 1800000000
  ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF lab"
  client_cidr    = "192.0.2.1/32"
  password       = "topsecret99"
}

run "one_server" {
  command = apply
  assert {
    condition     = aws_db_instance.server.instance_class == "db.r6i.4xlarge" && aws_db_instance.server.availability_zone == "eu-central-1a" && aws_db_instance.server.engine_version == "17"
    error_message = "The server is of its class, version and zone."
  }
  assert {
    condition     = aws_db_instance.server.skip_final_snapshot && !aws_db_instance.server.deletion_protection && aws_db_instance.server.delete_automated_backups
    error_message = "The server must be destroyable, and leave nothing."
  }
  assert {
    condition     = aws_instance.driver[0].instance_initiated_shutdown_behavior == "terminate" && strcontains(aws_instance.driver[0].user_data, "content: \"1800002700\"")
    error_message = "The driver must end 45 minutes after the lab."
  }
  assert {
    condition     = aws_vpc_security_group_ingress_rule.ssh[0].cidr_ipv4 == "192.0.2.1/32" && !strcontains(aws_instance.driver[0].user_data, "topsecret99")
    error_message = "Only the client may use ssh, and user data must hold no password."
  }
  assert {
    condition     = output.pgdyno == { host = "pgdyno.rds.example", port = 5432, user = "pgdyno", database = "pgdyno", driver = { host = "192.0.2.9", user = "pgdyno" }, cores = 16, sslmode = "require", instance = "pgdyno-lab-1-16vcpu" }
    error_message = "The output must be the contract's."
  }
}

run "a_standby_and_settings" {
  command = plan
  variables {
    multi_az     = true
    storage_type = "io2"
    iops         = 40000
    settings     = { work_mem = "16384" }
  }
  assert {
    condition     = aws_db_instance.server.multi_az && aws_db_instance.server.iops == 40000 && length(aws_db_parameter_group.server.parameter) == 1
    error_message = "A standby, provisioned IOPS and a parameter."
  }
}

run "io2_without_iops" {
  command = plan
  variables { storage_type = "io2" }
  expect_failures = [aws_db_instance.server]
}

run "one_zone_twice" {
  command = plan
  variables { other_zone = "eu-central-1a" }
  expect_failures = [aws_db_instance.server]
}

run "a_class_that_does_not_exist" {
  command = plan
  variables { instance_class = "r6i.4xlarge" }
  expect_failures = [var.instance_class]
}
