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
  description = "Zone of the server and of the driver."
  type        = string
  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.zone))
    error_message = "zone must look like us-central1-c."
  }
}

variable "cpu" {
  description = "vCPUs of the server."
  type        = number
  validation {
    condition     = var.cpu == 1 || var.cpu >= 2 && var.cpu <= 128 && var.cpu % 2 == 0
    error_message = "cpu must be 1 or an even number up to 128."
  }
}

variable "memory_gb" {
  description = "Memory of the server; 0 for 6.5 GB a vCPU (ENTERPRISE) or what the edition has (ENTERPRISE_PLUS)."
  type        = number
  default     = 0
  validation {
    condition     = var.memory_gb == 0 || var.memory_gb >= 3.75 && floor(var.memory_gb * 4) == var.memory_gb * 4
    error_message = "memory_gb must be at least 3.75, in steps of 0.25."
  }
}

variable "edition" {
  description = "ENTERPRISE (as in the guide) or ENTERPRISE_PLUS."
  type        = string
  default     = "ENTERPRISE"
  validation {
    condition     = contains(["ENTERPRISE", "ENTERPRISE_PLUS"], var.edition)
    error_message = "edition must be ENTERPRISE or ENTERPRISE_PLUS."
  }
}

variable "postgres_version" {
  description = "Major version; the guide has 14."
  type        = number
  default     = 14
  validation {
    condition     = contains([13, 14, 15, 16, 17, 18], var.postgres_version)
    error_message = "postgres_version must be 13 to 18."
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

variable "storage_gb" {
  description = "Disk of the server; the guide has 1,500 GB. IOPS grow with it."
  type        = number
  default     = 1500
  validation {
    condition     = var.storage_gb >= 10 && var.storage_gb <= 65536 && floor(var.storage_gb) == var.storage_gb
    error_message = "storage_gb must be 10 to 65536."
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
