output "pgdyno" {
  description = "Where the server and the driver are."
  value = {
    host     = aws_db_instance.server.address
    port     = 5432
    user     = "pgdyno"
    database = "pgdyno"
    driver   = one([for driver in aws_instance.driver : { host = driver.public_ip, user = "pgdyno" }])
    cores    = var.cpu
    sslmode  = "require"
    instance = aws_db_instance.server.identifier
  }
}
