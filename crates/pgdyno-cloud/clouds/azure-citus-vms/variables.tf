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
  description = "vCores of the coordinator; the 4 of c4+2w8."
  type        = number
  validation {
    condition     = contains([2, 4, 8, 16, 32, 48, 64, 96], var.cpu)
    error_message = "cpu must be 2, 4, 8, 16, 32, 48, 64 or 96."
  }
}

variable "memory_per_cpu_gb" {
  description = "Memory of the coordinator for each vCore: 4 (D v5) or 8 (E v5)."
  type        = number
  default     = 4
  validation {
    condition     = contains([4, 8], var.memory_per_cpu_gb)
    error_message = "memory_per_cpu_gb must be 4 or 8."
  }
}

variable "workers" {
  description = "Workers; the 2 of c4+2w8."
  type        = number
  validation {
    condition     = var.workers >= 1 && var.workers <= 100 && floor(var.workers) == var.workers
    error_message = "workers must be 1 to 100."
  }
}

variable "worker_cpu" {
  description = "vCores of each worker; the 8 of c4+2w8."
  type        = number
  validation {
    condition     = contains([2, 4, 8, 16, 32, 48, 64, 96], var.worker_cpu)
    error_message = "worker_cpu must be 2, 4, 8, 16, 32, 48, 64 or 96."
  }
}

variable "worker_memory_per_cpu_gb" {
  description = "Memory of a worker for each vCore: 4 (D v5) or 8 (E v5)."
  type        = number
  default     = 8
  validation {
    condition     = contains([4, 8], var.worker_memory_per_cpu_gb)
    error_message = "worker_memory_per_cpu_gb must be 4 or 8."
  }
}

variable "storage_gb" {
  description = "Disk of each node; the guide has 512 GB, and 2 TB for 704 vCores. IOPS grow with it."
  type        = number
  default     = 512
  validation {
    condition     = var.storage_gb >= 64 && var.storage_gb <= 4095 && floor(var.storage_gb) == var.storage_gb
    error_message = "storage_gb must be 64 to 4095."
  }
}

variable "citus_version" {
  description = "Version of Citus, built on each node from the tag of its source; it must be one for PostgreSQL 16."
  type        = string
  default     = "13.2.2"
  validation {
    condition     = can(regex("^(12\\.[1-9]|13\\.[0-9]+)\\.[0-9]+$", var.citus_version))
    error_message = "citus_version must be 12.1 or newer, as 13.2.2."
  }
}

variable "settings" {
  description = "Settings of PostgreSQL on every node, beside those that follow from its size."
  type        = map(string)
  default     = {}
  validation {
    condition     = alltrue([for name, value in var.settings : can(regex("^[a-z_.]+$", name)) && can(regex("^[A-Za-z0-9_.,% -]*$", value))])
    error_message = "A setting has a name of lower-case letters, and a value of letters, digits and _ . , % - and spaces."
  }
}
