variable "root" {
  description = "Directory for the servers, absolute; each size has its own below it."
  type        = string
  validation {
    condition     = can(regex("^/[A-Za-z0-9_./+@-]*$", var.root)) && length(var.root) <= 70
    error_message = "root must be an absolute path of at most 70 letters, digits and _ . / + @ -: the server's socket is below it, whose path has a limit."
  }
}

variable "cpu" {
  description = "CPUs that the server may use: by a control group where this machine allows it, else by pinning."
  type        = number
  validation {
    condition     = var.cpu > 0 && var.cpu <= 1024
    error_message = "cpu must be more than 0."
  }
}

variable "memory_mb" {
  description = "Memory that the server is configured for: a quarter of it is shared_buffers."
  type        = number
  default     = 512
  validation {
    condition     = var.memory_mb >= 64 && floor(var.memory_mb) == var.memory_mb
    error_message = "memory_mb must be at least 64."
  }
}

variable "postgres_bin" {
  description = "Directory of initdb and postgres; null looks in PATH and where packages install them."
  type        = string
  default     = null
}

variable "server_user" {
  description = "Who runs the server if you are root."
  type        = string
  default     = "postgres"
  validation {
    condition     = can(regex("^[a-z_][a-z0-9_-]*$", var.server_user)) && var.server_user != "root"
    error_message = "server_user must be a user other than root, whom PostgreSQL refuses."
  }
}

variable "settings" {
  description = "Settings of PostgreSQL."
  type        = map(string)
  default     = {}
  validation {
    condition     = alltrue([for name, value in var.settings : can(regex("^[a-z_.]+$", name)) && can(regex("^[A-Za-z0-9_.,%/ -]*$", value))])
    error_message = "A setting has a name of lower-case letters, and a value of letters, digits and _ . , % / - and spaces."
  }
}
