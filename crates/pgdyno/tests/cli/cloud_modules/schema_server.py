"""Serves recorded schemas of providers, so that `validate` and `test` with mock_provider need no provider.

Usage: schema_server.py SOCKET SCHEMA.json

Prints one line once it listens; ends when its standard input ends. The file is a provider's part of `providers schema -json`:
an object with provider, resource_schemas and data_source_schemas. A caller names the socket in TF_REATTACH_PROVIDERS.
Needs grpcio, and the stubs of protocol 6 in the package tf.
"""

import json
import sys
from concurrent import futures

import grpc
from tf.gen import tfplugin_pb2 as protocol
from tf.gen import tfplugin_pb2_grpc as service

NESTING = {"single": 1, "list": 2, "set": 3, "map": 4, "group": 5}
# Field 11 of an attribute, write_only, is newer than the stubs: as an unknown field it is passed on.
WRITE_ONLY = bytes([11 << 3, 1])


def attribute(name, described):
    flags = ("required", "optional", "computed", "sensitive", "deprecated")
    made = protocol.Schema.Attribute(
        name=name,
        type=json.dumps(described["type"]).encode(),
        **{flag: described.get(flag, False) for flag in flags},
    )
    if described.get("write_only"):
        made.MergeFromString(WRITE_ONLY)
    return made


def block(described):
    made = protocol.Schema.Block()
    for name, each in sorted(described.get("attributes", {}).items()):
        made.attributes.append(attribute(name, each))
    for name, each in sorted(described.get("block_types", {}).items()):
        made.block_types.append(
            protocol.Schema.NestedBlock(
                type_name=name,
                block=block(each["block"]),
                nesting=NESTING[each["nesting_mode"]],
                min_items=each.get("min_items", 0),
                max_items=each.get("max_items", 0),
            )
        )
    return made


def schema(described):
    return protocol.Schema(version=described.get("version", 0), block=block(described["block"]))


class Provider(service.ProviderServicer):
    """Answers what validate and test ask; it never makes, reads or changes a resource."""

    def __init__(self, recorded):
        self.recorded = recorded

    def GetMetadata(self, request, context):
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "")

    def GetProviderSchema(self, request, context):
        answer = protocol.GetProviderSchema.Response(provider=schema(self.recorded["provider"]))
        for name, described in self.recorded["resource_schemas"].items():
            answer.resource_schemas[name].CopyFrom(schema(described))
        for name, described in self.recorded["data_source_schemas"].items():
            answer.data_source_schemas[name].CopyFrom(schema(described))
        return answer

    def ValidateProviderConfig(self, request, context):
        return protocol.ValidateProviderConfig.Response()

    def ValidateResourceConfig(self, request, context):
        return protocol.ValidateResourceConfig.Response()

    def ValidateDataResourceConfig(self, request, context):
        return protocol.ValidateDataResourceConfig.Response()

    def UpgradeResourceState(self, request, context):
        return protocol.UpgradeResourceState.Response(upgraded_state=protocol.DynamicValue(json=request.raw_state.json))

    def GetFunctions(self, request, context):
        return protocol.GetFunctions.Response()

    def StopProvider(self, request, context):
        return protocol.StopProvider.Response()


def main():
    socket, file = sys.argv[1:]
    with open(file, encoding="utf-8") as recorded:
        provider = Provider(json.load(recorded))
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.max_send_message_length", 1 << 28)])
    service.add_ProviderServicer_to_server(provider, server)
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    print("listens", flush=True)
    sys.stdin.read()
    server.stop(None)


main()
