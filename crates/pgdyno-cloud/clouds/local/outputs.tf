output "pgdyno" {
  description = "Where the server is; this machine is the driver."
  value = {
    host     = terraform_data.server.output.directory
    port     = 5432
    user     = "pgdyno"
    database = "pgdyno"
    driver   = null
    cores    = var.cpu
    sslmode  = "disable"
    instance = terraform_data.server.output.directory
  }
}
