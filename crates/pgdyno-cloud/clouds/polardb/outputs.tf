output "pgdyno" {
  description = "Where the server and the driver are."
  value = {
    host     = local.primary.connection_string
    port     = tonumber(local.primary.port)
    user     = "pgdyno"
    database = "postgres"
    driver   = one([for driver in alicloud_instance.driver : { host = driver.public_ip, user = "pgdyno" }])
    cores    = var.cpu
    sslmode  = "disable"
    instance = alicloud_polardb_cluster.server.id
  }
}
