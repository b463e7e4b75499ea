variable "project" {
  description = "Project; one of its own is safest."
  type        = string
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "project must be a project's ID."
  }
}

variable "region" {
  description = "Region, as us-central1."
  type        = string
  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region must look like us-central1."
  }
}

variable "zone" {
  description = "Zone of the driver, and of a ZONAL primary."
  type        = string
  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.zone))
    error_message = "zone must look like us-central1-c."
  }
}

variable "cpu" {
  description = "vCPUs of the primary; it has 8 GB of memory for each."
  type        = number
  validation {
    condition     = contains([1, 2, 4, 8, 16, 32, 48, 64, 72, 96, 128], var.cpu)
    error_message = "cpu must be 2, 4, 8, 16, 32, 64, 96 or 128 (N2), or 1, 4, 8, 16, 32, 48, 64 or 72 (C4A)."
  }
}

variable "machine_type" {
  description = "Machine type of the primary, as n2-highmem-16 or c4a-highmem-16; null leaves it to AlloyDB."
  type        = string
  default     = null
  validation {
    condition     = var.machine_type == null || can(regex("^(n2-highmem|c4a-highmem|z3-highmem)-[0-9]+[a-z-]*$", var.machine_type))
    error_message = "machine_type must be one of AlloyDB's, as n2-highmem-16."
  }
}

variable "postgres_version" {
  description = "Major version; the guide has 15."
  type        = number
  default     = 15
  validation {
    condition     = contains([14, 15, 16, 17], var.postgres_version)
    error_message = "postgres_version must be 14, 15, 16 or 17."
  }
}

variable "availability" {
  description = "REGIONAL (highly available, as in the guide) or ZONAL."
  type        = string
  default     = "REGIONAL"
  validation {
    condition     = contains(["REGIONAL", "ZONAL"], var.availability)
    error_message = "availability must be REGIONAL or ZONAL."
  }
}

variable "driver" {
  description = "Machine type of the driver; the guide has n2-standard-64 for 64 vCPUs."
  type        = string
  default     = "e2-standard-32"
  validation {
    condition     = can(regex("^[a-z][a-z0-9]+-[a-z]+-[0-9]+$", var.driver))
    error_message = "driver must be a machine type, as e2-standard-32."
  }
}

variable "flags" {
  description = "Database flags."
  type        = map(string)
  default     = {}
}
