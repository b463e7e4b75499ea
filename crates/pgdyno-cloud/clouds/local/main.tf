# PostgreSQL on this machine: a real server for each size, without a cloud. It listens on a socket in its own directory only.

locals {
  directory = "${trimsuffix(var.root, "/")}/${var.size}"
}

resource "terraform_data" "server" {
  input = {
    program   = abspath("${path.module}/server.sh")
    directory = local.directory
  }
  triggers_replace = [local.directory, var.cpu, var.memory_mb, var.settings, var.postgres_bin, var.server_user]

  # A resource whose creation failed is removed without the commands for that: the program removes what it made itself.
  provisioner "local-exec" {
    command = "exec sh \"$PGDYNO_PROGRAM\" start \"$PGDYNO_DIRECTORY\""
    environment = {
      PGDYNO_PROGRAM   = self.input.program
      PGDYNO_DIRECTORY = self.input.directory
      PGDYNO_CPUS      = var.cpu
      PGDYNO_MEMORY_MB = var.memory_mb
      PGDYNO_BIN       = var.postgres_bin == null ? "" : var.postgres_bin
      PGDYNO_USER      = var.server_user
      PGDYNO_LAB       = var.lab
      PGDYNO_SETTINGS  = join("", [for name, value in var.settings : "${name} = '${value}'\n"])
      PGDYNO_PASSWORD  = var.password == null ? "" : var.password
    }
  }

  provisioner "local-exec" {
    when    = destroy
    command = "exec sh \"$PGDYNO_PROGRAM\" stop \"$PGDYNO_DIRECTORY\""
    environment = {
      PGDYNO_PROGRAM   = self.input.program
      PGDYNO_DIRECTORY = self.input.directory
    }
  }
}
