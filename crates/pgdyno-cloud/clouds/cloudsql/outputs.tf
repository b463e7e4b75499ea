output "pgdyno" {
  description = "Where the server and the driver are."
  value = {
    host     = module.driver.host
    port     = 5432
    user     = "postgres"
    database = "postgres"
    driver   = module.driver.driver
    cores    = var.cpu
    sslmode  = "require"
    instance = google_sql_database_instance.server.name
  }
}
