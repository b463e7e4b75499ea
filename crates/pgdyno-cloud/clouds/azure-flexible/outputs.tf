output "pgdyno" {
  description = "Where the server and the driver are."
  value = {
    host     = azurerm_postgresql_flexible_server.server.fqdn
    port     = 5432
    user     = "pgdyno"
    database = "postgres"
    driver   = module.driver.driver
    cores    = var.cpu * max(var.nodes, 1)
    sslmode  = "require"
    instance = azurerm_postgresql_flexible_server.server.id
  }
}
