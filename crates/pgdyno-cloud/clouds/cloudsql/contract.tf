# Variables that every module takes. This file is the same in all of them; a test compares them.

variable "lab" {
  description = "Name of the lab; part of every name and tag."
  type        = string
  validation {
    condition     = length(var.lab) <= 20 && can(regex("^[a-z]([a-z0-9]|-[a-z0-9])*$", var.lab))
    error_message = "lab must be at most 20 lower-case letters, digits and single hyphens, and begin with a letter."
  }
}

variable "size" {
  description = "Name of the size, as in lab.toml."
  type        = string
  validation {
    condition     = length(var.size) <= 20 && can(regex("^[a-z0-9](-?[a-z0-9])*$", var.size))
    error_message = "size must be at most 20 lower-case letters, digits and single hyphens."
  }
}

variable "expires" {
  description = "Unix time in seconds after which everything may be deleted."
  type        = number
  validation {
    condition     = var.expires > 1500000000 && floor(var.expires) == var.expires
    error_message = "expires must be a Unix time in whole seconds."
  }
}

# Ephemeral: it is in no state and in no plan. Its default lets destroy run without it.
variable "password" {
  description = "Password of the database user."
  type        = string
  default     = null
  ephemeral   = true
  sensitive   = true
}

variable "ssh_public_key" {
  description = "Public key for the driver; without it there is no driver."
  type        = string
  default     = null
  validation {
    condition     = var.ssh_public_key == null || can(regex("^(ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/]+=*( [^\n\"]*)?$", var.ssh_public_key))
    error_message = "ssh_public_key must be one line as in ~/.ssh/id_ed25519.pub."
  }
}

variable "client_cidr" {
  description = "The one address from which ssh to the driver is allowed, as a.b.c.d/32."
  type        = string
  default     = null
  validation {
    condition     = var.client_cidr == null || can(cidrnetmask(var.client_cidr)) && can(regex("/32$", var.client_cidr))
    error_message = "client_cidr must be one address, as 198.51.100.7/32."
  }
}
