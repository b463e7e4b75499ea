variable "region" {
  description = "Region, as cn-hangzhou or ap-southeast-1."
  type        = string
  validation {
    condition     = can(regex("^[a-z]{2}-[a-z]+(-[0-9])?$", var.region))
    error_message = "region must look like ap-southeast-1."
  }
}

variable "zone" {
  description = "Zone of the server and of the driver."
  type        = string
  validation {
    condition     = can(regex("^[a-z]{2}-[a-z]+-([0-9])?[a-z]$", var.zone))
    error_message = "zone must look like ap-southeast-1b."
  }
}

variable "node_class" {
  description = "Class of the nodes, as polar.o.x8.4xlarge; polar.o is compatible with Oracle (as in the white paper), polar.pg is PostgreSQL."
  type        = string
  validation {
    condition     = can(regex("^polar\\.(o|pg)\\.[a-z][a-z0-9]*\\.([0-9]*xlarge|large|medium)(\\.c)?$", var.node_class))
    error_message = "node_class must be a class of PolarDB, as polar.o.x8.4xlarge."
  }
}

variable "cpu" {
  description = "Cores of the primary, as its class has them; it is for the report."
  type        = number
  validation {
    condition     = var.cpu >= 2 && var.cpu <= 128 && floor(var.cpu) == var.cpu
    error_message = "cpu must be 2 to 128."
  }
}

variable "nodes" {
  description = "Nodes: one primary, the others read-only. The white paper has 2."
  type        = number
  default     = 2
  validation {
    condition     = var.nodes >= 2 && var.nodes <= 16 && floor(var.nodes) == var.nodes
    error_message = "nodes must be 2 to 16."
  }
}

variable "postgres_version" {
  description = "Major version."
  type        = number
  default     = 14
  validation {
    condition     = contains([11, 14, 15, 16, 17], var.postgres_version)
    error_message = "postgres_version must be 11, 14, 15, 16 or 17."
  }
}

variable "driver" {
  description = "Type of the driver; the white paper has ecs.g5.16xlarge."
  type        = string
  default     = "ecs.g5.16xlarge"
  validation {
    condition     = can(regex("^ecs\\.[a-z][a-z0-9]*(-[a-z0-9]+)*\\.([0-9]*xlarge|large)$", var.driver))
    error_message = "driver must be a type of ECS, as ecs.g5.16xlarge."
  }
}

variable "settings" {
  description = "Settings of the cluster."
  type        = map(string)
  default     = {}
}

variable "account" {
  description = "Whether to make the account pgdyno; false if you make it."
  type        = bool
  default     = true
}
