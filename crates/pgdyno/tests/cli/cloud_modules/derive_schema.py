"""Derives the schema of a provider, as far as modules use it, from the classes of its Pulumi package.

Usage: derive_schema.py PACKAGE.whl aws|alicloud >SCHEMA.json

Pulumi makes these classes from the provider's own schema. They show the names and types of arguments and results, and which
arguments are required. They do not show what is validated beyond that, nor whether a block may occur once or often.
"""

import ast
import json
import sys
import zipfile

# Resource or data source of the provider: its file and class in the package.
RESOURCES = {
    "aws": {
        "aws_vpc": "ec2/vpc.py Vpc",
        "aws_internet_gateway": "ec2/internet_gateway.py InternetGateway",
        "aws_subnet": "ec2/subnet.py Subnet",
        "aws_route_table": "ec2/route_table.py RouteTable",
        "aws_route": "ec2/route.py Route",
        "aws_route_table_association": "ec2/route_table_association.py RouteTableAssociation",
        "aws_security_group": "ec2/security_group.py SecurityGroup",
        "aws_vpc_security_group_ingress_rule": "vpc/security_group_ingress_rule.py SecurityGroupIngressRule",
        "aws_vpc_security_group_egress_rule": "vpc/security_group_egress_rule.py SecurityGroupEgressRule",
        "aws_db_subnet_group": "rds/subnet_group.py SubnetGroup",
        "aws_db_parameter_group": "rds/parameter_group.py ParameterGroup",
        "aws_db_instance": "rds/instance.py Instance",
        "aws_instance": "ec2/instance.py Instance",
    },
    "alicloud": {
        "alicloud_vpc": "vpc/network.py Network",
        "alicloud_vswitch": "vpc/switch.py Switch",
        "alicloud_security_group": "ecs/security_group.py SecurityGroup",
        "alicloud_security_group_rule": "ecs/security_group_rule.py SecurityGroupRule",
        "alicloud_polardb_cluster": "polardb/cluster.py Cluster",
        "alicloud_polardb_account": "polardb/account.py Account",
        "alicloud_instance": "ecs/instance.py Instance",
    },
}
DATA = {
    "aws": {"aws_ssm_parameter": "ssm/get_parameter.py get_parameter"},
    "alicloud": {
        "alicloud_images": "ecs/get_images.py get_images",
        "alicloud_polardb_endpoints": "polardb/get_endpoints.py get_endpoints",
    },
}
# Pulumi's plurals of repeated blocks, and the provider's names.
SINGULAR = {
    "aws_db_parameter_group": {"parameters": "parameter"},
    "alicloud_polardb_cluster": {"db_cluster_ip_arrays": "db_cluster_ip_array"},
}
PROVIDERS = {
    "aws": {
        "attributes": {"region": {"type": "string", "optional": True}},
        "block_types": {
            "default_tags": {
                "nesting_mode": "list",
                "max_items": 1,
                "block": {"attributes": {"tags": {"type": ["map", "string"], "optional": True}}},
            }
        },
    },
    "alicloud": {"attributes": {"region": {"type": "string", "optional": True}}},
}
SIMPLE = {"str": "string", "int": "number", "float": "number", "bool": "bool"}


class Package:
    """The sources in a wheel."""

    def __init__(self, wheel, provider):
        self.files, self.root, self.parsed = zipfile.ZipFile(wheel), f"pulumi_{provider}", {}

    def parse(self, path):
        if path not in self.parsed:
            self.parsed[path] = ast.parse(self.files.read(f"{self.root}/{path}"))
        return self.parsed[path]

    def named(self, path, name):
        """Returns the arguments of a function or of a class's __init__: the hint of each, and whether it is required."""
        for node in self.parse(path).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                node = next(each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
            elif not (isinstance(node, ast.FunctionDef) and node.name == name):
                continue
            # Positional arguments, those of functions and results, all have a default.
            found = {each.arg: (each.annotation, False) for each in node.args.args}
            for each, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
                found[each.arg] = (each.annotation, default is None)
            return {key: hint for key, hint in found.items() if key not in ("__self__", "opts")}
        raise SystemExit(f"{path} has no {name}")


def shape(hint):
    """Returns the type of a hint: a type of the provider's, or the name of a class and whether it is repeated."""
    if isinstance(hint, ast.Constant):
        return ("class", hint.value.split(".")[-1], False)
    if isinstance(hint, ast.Name):
        return SIMPLE.get(hint.id, "string")
    if isinstance(hint, ast.Attribute):
        return SIMPLE.get(hint.attr, "dynamic")
    outer = hint.value.attr if isinstance(hint.value, ast.Attribute) else hint.value.id
    inner = hint.slice.elts[0] if isinstance(hint.slice, ast.Tuple) else hint.slice
    if outer == "Sequence":
        inner = shape(inner)
        return ("class", inner[1], True) if inner[0] == "class" else ["list", inner]
    if outer == "Mapping":
        return ["map", shape(hint.slice.elts[1])]
    # Input, Optional, and the enumeration that a Union adds to a string.
    return shape(inner)


def block(package, folder, arguments, computed, renamed):
    """Returns the block of these arguments and results; `computed` has no required ones."""
    made = {"attributes": {}, "block_types": {}}
    for name, (hint, required) in {**computed, **arguments}.items():
        kind, settable = shape(hint), name in arguments
        name = renamed.get(name, name)
        if kind[0] == "class":
            if settable:
                inner = package.named(f"{folder}/_inputs.py", kind[1])
                nested = block(package, folder, inner, {}, {})
                made["block_types"][name] = {"nesting_mode": "list", "block": nested, "max_items": 0 if kind[2] else 1}
            continue
        made["attributes"][name] = {
            "type": kind,
            "required": settable and required,
            "optional": settable and not required,
            "computed": not (settable and required) and not name.endswith("_wo"),
            "write_only": name.endswith("_wo"),
            "sensitive": name.startswith("password") and "version" not in name or name.endswith("_password"),
        }
    return made


def object_type(package, folder, name):
    """Returns the type of a result's class."""
    fields = {}
    for field, (hint, _) in package.named(f"{folder}/outputs.py", name).items():
        kind = shape(hint)
        if kind[0] == "class":
            kind = ["list", object_type(package, folder, kind[1])]
        fields[field] = kind
    return ["object", fields]


def resource(package, name, place):
    path, name_of_class = place.split()
    folder = path.split("/")[0]
    computed = {key: (hint, False) for key, (hint, _) in package.named(path, f"_{name_of_class}State").items()}
    made = block(package, folder, package.named(path, f"{name_of_class}Args"), computed, SINGULAR.get(name, {}))
    made["attributes"].setdefault("id", {"type": "string", "computed": True})
    return made


def data_source(package, place):
    path, function = place.split()
    folder = path.split("/")[0]
    arguments = package.named(path, function)
    results = package.named(path, "".join(part.title() for part in function.split("_")) + "Result")
    # Every argument has a default in Python; the provider answers for those that it requires.
    made = block(package, folder, arguments, {}, {})
    for key in results:
        kind = result_shape(package, path, key)
        if kind[0] == "class":
            kind = ["list", object_type(package, folder, kind[1])]
        made["attributes"].setdefault(key, {"type": kind, "computed": True})
    return made


def result_shape(package, path, key):
    """Returns the type of a result: that of its property."""
    for node in package.parse(path).body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Result") and not node.name.startswith("Awaitable"):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == key and each.returns is not None:
                    return shape(each.returns)
    return "string"


def main():
    wheel, provider = sys.argv[1:]
    package = Package(wheel, provider)
    made = {
        "provider": {"version": 0, "block": PROVIDERS[provider]},
        "resource_schemas": {
            name: {"version": 0, "block": resource(package, name, place)} for name, place in RESOURCES[provider].items()
        },
        "data_source_schemas": {
            name: {"version": 0, "block": data_source(package, place)} for name, place in DATA[provider].items()
        },
    }
    json.dump(made, sys.stdout)


main()
