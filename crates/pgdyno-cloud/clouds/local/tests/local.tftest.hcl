# Plans only: to apply is to start servers, which the tests of pgdyno do.

variables {
  root    = "/var/tmp/pgdyno-lab"
  lab     = "lab"
  size    = "2cpu"
  cpu     = 2
  expires = 1800000000
}

run "a_server" {
  command = plan
  assert {
    condition     = terraform_data.server.input.directory == "/var/tmp/pgdyno-lab/2cpu"
    error_message = "Each size has a directory of its own."
  }
}

run "a_relative_root" {
  command = plan
  variables { root = "labs" }
  expect_failures = [var.root]
}

run "a_root_that_is_too_long_for_a_socket" {
  command = plan
  variables { root = "/a/directory/that/is/so/deep/that/the/path/of/the/socket/would/be/cut/off" }
  expect_failures = [var.root]
}

run "a_server_of_root" {
  command = plan
  variables { server_user = "root" }
  expect_failures = [var.server_user]
}

run "a_setting_that_ends_its_line" {
  command = plan
  variables { settings = { work_mem = "16MB'\nfsync = 'off" } }
  expect_failures = [var.settings]
}

run "no_cpu" {
  command = plan
  variables { cpu = 0 }
  expect_failures = [var.cpu]
}
