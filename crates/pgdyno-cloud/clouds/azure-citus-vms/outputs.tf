output "pgdyno" {
  description = "Where the server and the driver are."
  value = {
    host     = local.nodes.coordinator.address
    port     = 5432
    user     = "pgdyno"
    database = "pgdyno"
    driver   = module.driver.driver
    cores    = sum([for node in local.nodes : node.cpu])
    sslmode  = "require"
    instance = azurerm_linux_virtual_machine.node["coordinator"].id
    nodes    = [for name, node in local.nodes : { instance = azurerm_linux_virtual_machine.node[name].id, cores = node.cpu }]
  }
}
