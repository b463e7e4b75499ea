variable "region" {
  description = "Region, as eu-central-1."
  type        = string
  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must look like eu-central-1."
  }
}

variable "zone" {
  description = "Availability zone of the server (without a standby) and of the driver."
  type        = string
  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$", var.zone))
    error_message = "zone must look like eu-central-1a."
  }
}

variable "other_zone" {
  description = "A second zone: RDS wants two, and the standby is there."
  type        = string
  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$", var.other_zone))
    error_message = "other_zone must look like eu-central-1b."
  }
}

variable "instance_class" {
  description = "Class of the server, as db.r6i.4xlarge (16 vCPUs, 128 GB)."
  type        = string
  validation {
    condition     = can(regex("^db\\.[a-z][a-z0-9]+\\.[0-9]*x?large(\\.tpc[12]\\.mem[0-9.]+x)?$", var.instance_class))
    error_message = "instance_class must be a class of RDS, as db.r6i.4xlarge."
  }
}

variable "cpu" {
  description = "vCPUs of that class; it is for the report."
  type        = number
  validation {
    condition     = contains([2, 4, 8, 16, 32, 48, 64, 96, 128, 192], var.cpu)
    error_message = "cpu must be 2, 4, 8, 16, 32, 48, 64, 96, 128 or 192."
  }
}

variable "postgres_version" {
  description = "Major version."
  type        = number
  default     = 17
  validation {
    condition     = contains([13, 14, 15, 16, 17, 18], var.postgres_version)
    error_message = "postgres_version must be 13 to 18."
  }
}

variable "multi_az" {
  description = "A standby in the other zone."
  type        = bool
  default     = false
}

variable "storage_gb" {
  description = "Storage of the server."
  type        = number
  default     = 1500
  validation {
    condition     = var.storage_gb >= 20 && var.storage_gb <= 65536 && floor(var.storage_gb) == var.storage_gb
    error_message = "storage_gb must be 20 to 65536."
  }
}

variable "storage_type" {
  description = "gp3 or io2."
  type        = string
  default     = "gp3"
  validation {
    condition     = contains(["gp3", "io2"], var.storage_type)
    error_message = "storage_type must be gp3 or io2."
  }
}

variable "iops" {
  description = "Provisioned IOPS; null is what gp3 has for its size. io2 needs a number."
  type        = number
  default     = null
  validation {
    condition     = var.iops == null ? true : var.iops >= 1000 && var.iops <= 256000
    error_message = "iops must be 1000 to 256000."
  }
}

variable "driver" {
  description = "Type of the driver."
  type        = string
  default     = "m6i.8xlarge"
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]+\\.[0-9]*x?large$", var.driver))
    error_message = "driver must be a type of instance, as m6i.8xlarge."
  }
}

variable "settings" {
  description = "Settings of PostgreSQL, in the parameter group."
  type        = map(string)
  default     = {}
}
