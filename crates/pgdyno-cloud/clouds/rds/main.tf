# Amazon RDS for PostgreSQL, and a driver. No guide is for RDS: the sizes are those of the AlloyDB guide.

locals {
  # RDS refuses names with two hyphens in a row; a sweep goes by tag.
  name = "pgdyno-${var.lab}-${var.size}"
  tags = {
    Name           = local.name
    pgdyno-lab     = var.lab
    pgdyno-expires = tostring(var.expires)
  }
  driver = var.ssh_public_key == null ? 0 : 1
}

resource "aws_vpc" "net" {
  cidr_block           = "10.13.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_internet_gateway" "out" {
  vpc_id = aws_vpc.net.id
}

resource "aws_subnet" "zone" {
  for_each          = { (var.zone) = "10.13.0.0/24", (var.other_zone) = "10.13.1.0/24" }
  vpc_id            = aws_vpc.net.id
  availability_zone = each.key
  cidr_block        = each.value
}

resource "aws_route_table" "out" {
  vpc_id = aws_vpc.net.id
}

resource "aws_route" "out" {
  route_table_id         = aws_route_table.out.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.out.id
}

resource "aws_route_table_association" "driver" {
  subnet_id      = aws_subnet.zone[var.zone].id
  route_table_id = aws_route_table.out.id
}

resource "aws_security_group" "driver" {
  name        = "${local.name}-driver"
  description = "ssh from the client"
  vpc_id      = aws_vpc.net.id
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  count             = local.driver
  security_group_id = aws_security_group.driver.id
  cidr_ipv4         = var.client_cidr
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
  lifecycle {
    precondition {
      condition     = var.client_cidr != null
      error_message = "A driver needs client_cidr, the address from which ssh is allowed."
    }
  }
}

resource "aws_vpc_security_group_egress_rule" "driver" {
  security_group_id = aws_security_group.driver.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_security_group" "server" {
  name        = "${local.name}-server"
  description = "PostgreSQL from the driver"
  vpc_id      = aws_vpc.net.id
}

resource "aws_vpc_security_group_ingress_rule" "postgres" {
  security_group_id            = aws_security_group.server.id
  referenced_security_group_id = aws_security_group.driver.id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}

# A sweep finds this and the next by their description: a list of them has no tags.
resource "aws_db_subnet_group" "server" {
  name        = local.name
  description = "pgdyno lab ${var.lab}"
  subnet_ids  = [for subnet in aws_subnet.zone : subnet.id]
}

resource "aws_db_parameter_group" "server" {
  name        = local.name
  description = "pgdyno lab ${var.lab}"
  family      = "postgres${var.postgres_version}"
  dynamic "parameter" {
    for_each = var.settings
    content {
      name         = parameter.key
      value        = parameter.value
      apply_method = "pending-reboot"
    }
  }
}

resource "aws_db_instance" "server" {
  identifier             = local.name
  engine                 = "postgres"
  engine_version         = tostring(var.postgres_version)
  instance_class         = var.instance_class
  allocated_storage      = var.storage_gb
  storage_type           = var.storage_type
  iops                   = var.iops
  storage_encrypted      = true
  multi_az               = var.multi_az
  availability_zone      = var.multi_az ? null : var.zone
  db_name                = "pgdyno"
  username               = "pgdyno"
  password_wo            = var.password
  password_wo_version    = 1
  db_subnet_group_name   = aws_db_subnet_group.server.name
  vpc_security_group_ids = [aws_security_group.server.id]
  parameter_group_name   = aws_db_parameter_group.server.name
  publicly_accessible    = false
  apply_immediately      = true
  # Backups would run during the measurement and outlast the lab.
  backup_retention_period  = 0
  delete_automated_backups = true
  skip_final_snapshot      = true
  deletion_protection      = false
  lifecycle {
    precondition {
      condition     = var.zone != var.other_zone
      error_message = "zone and other_zone must differ."
    }
    precondition {
      condition     = var.storage_type != "io2" || var.iops != null
      error_message = "io2 needs iops."
    }
  }
}

# Canonical's own list of its newest images.
data "aws_ssm_parameter" "ubuntu" {
  name = "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id"
}

resource "aws_instance" "driver" {
  count                       = local.driver
  ami                         = data.aws_ssm_parameter.ubuntu.insecure_value
  instance_type               = var.driver
  subnet_id                   = aws_subnet.zone[var.zone].id
  vpc_security_group_ids      = [aws_security_group.driver.id]
  associate_public_ip_address = true
  # It powers off 45 minutes after the lab expires, when its results have been fetched, and is then deleted.
  instance_initiated_shutdown_behavior = "terminate"
  user_data = templatefile("${path.module}/../common/driver.yaml.tftpl", {
    ssh_public_key = trimspace(var.ssh_public_key)
    powers_off     = true
    expires        = var.expires + 2700
  })
  volume_tags = local.tags
  metadata_options {
    http_tokens = "required"
  }
  root_block_device {
    volume_type           = "gp3"
    volume_size           = 128
    delete_on_termination = true
  }
  lifecycle {
    # Another end or a newer image would stop or replace the machine, and with it the run.
    ignore_changes = [ami, user_data]
  }
}
