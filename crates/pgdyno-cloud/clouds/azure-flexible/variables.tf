variable "subscription_id" {
  description = "Subscription."
  type        = string
  validation {
    condition     = can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", var.subscription_id))
    error_message = "subscription_id must be a UUID."
  }
}

variable "location" {
  description = "Region, as westeurope."
  type        = string
  validation {
    condition     = can(regex("^[a-z]+[a-z0-9]*$", var.location))
    error_message = "location must be a region's name, as westeurope."
  }
}

variable "zone" {
  description = "Availability zone of all machines: 1, 2 or 3."
  type        = string
  default     = "1"
  validation {
    condition     = contains(["1", "2", "3"], var.zone)
    error_message = "zone must be 1, 2 or 3."
  }
}

variable "driver" {
  description = "Size of the driver; the guide has 64 vCores."
  type        = string
  default     = "Standard_D64s_v5"
  validation {
    condition     = can(regex("^Standard_[A-Z]+[0-9]+[a-z]*_v[0-9]$", var.driver))
    error_message = "driver must be a size of a virtual machine, as Standard_D64s_v5."
  }
}

variable "cpu" {
  description = "vCores of the server, or of each node."
  type        = number
  validation {
    condition     = contains([2, 4, 8, 16, 20, 32, 48, 64, 96], var.cpu)
    error_message = "cpu must be 2, 4, 8, 16, 20, 32, 48, 64 or 96."
  }
}

variable "memory_per_cpu_gb" {
  description = "8 (memory optimized, E v5) or 4 (general purpose, D v5)."
  type        = number
  default     = 8
  validation {
    condition     = contains([4, 8], var.memory_per_cpu_gb)
    error_message = "memory_per_cpu_gb must be 4 or 8."
  }
}

variable "nodes" {
  description = "Nodes of an elastic cluster (Citus), all of one size; 0 is a single server."
  type        = number
  default     = 0
  validation {
    condition     = var.nodes >= 0 && var.nodes <= 20 && floor(var.nodes) == var.nodes
    error_message = "nodes must be 0 to 20."
  }
}

variable "postgres_version" {
  description = "Major version; an elastic cluster has 17 or newer."
  type        = number
  default     = 17
  validation {
    condition     = contains([13, 14, 15, 16, 17, 18], var.postgres_version)
    error_message = "postgres_version must be 13 to 18."
  }
}

variable "storage_gb" {
  description = "Storage of the server, or of each node; the guide has 512 GB. IOPS grow with it."
  type        = number
  default     = 512
  validation {
    condition     = contains([32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384], var.storage_gb)
    error_message = "storage_gb must be a power of two from 32 to 16384."
  }
}

variable "availability" {
  description = "NONE, SAME_ZONE or ZONE_REDUNDANT: without a standby, or with one."
  type        = string
  default     = "NONE"
  validation {
    condition     = contains(["NONE", "SAME_ZONE", "ZONE_REDUNDANT"], var.availability)
    error_message = "availability must be NONE, SAME_ZONE or ZONE_REDUNDANT."
  }
}

variable "settings" {
  description = "Settings of PostgreSQL."
  type        = map(string)
  default     = {}
}
