"""Makes the account pgdyno of a PolarDB cluster, or gives it a new password if it exists.

The password comes from PGDYNO_PASSWORD and goes into the body of an HTTPS request: it is in no argument, URL, file or state.
Keys come from the variables that the provider reads: ALICLOUD_ACCESS_KEY and ALICLOUD_SECRET_KEY, or
ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET, with the token of either if there is one.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ENDPOINT = "https://polardb.aliyuncs.com/"
ACCOUNT = "pgdyno"
# A new cluster takes no account until it is running; half an hour is more than it takes.
ATTEMPTS, PAUSE_S = 120, 15


def variable(*names):
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def encode(text):
    return urllib.parse.quote(str(text), safe="~")


def signature(method, parameters, secret):
    """Returns the signature of a request, version 1.0: HMAC-SHA1 over its sorted parameters."""
    query = "&".join(f"{encode(name)}={encode(value)}" for name, value in sorted(parameters.items()))
    signed = f"{method}&{encode('/')}&{encode(query)}"
    return base64.b64encode(hmac.new(f"{secret}&".encode(), signed.encode(), hashlib.sha1).digest()).decode()


def call(action, arguments):
    """Sends a request; returns None, or the code and text of the error."""
    key = variable("ALICLOUD_ACCESS_KEY", "ALIBABA_CLOUD_ACCESS_KEY_ID")
    secret = variable("ALICLOUD_SECRET_KEY", "ALIBABA_CLOUD_ACCESS_KEY_SECRET")
    if not key or not secret:
        sys.exit("failed to make the account: no keys; set ALICLOUD_ACCESS_KEY and ALICLOUD_SECRET_KEY")
    parameters = {
        "AccessKeyId": key,
        "Action": action,
        "Format": "JSON",
        "SignatureMethod": "HMAC-SHA1",
        "SignatureNonce": secrets.token_hex(16),
        "SignatureVersion": "1.0",
        "Timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "Version": "2017-08-01",
        **arguments,
    }
    token = variable("ALICLOUD_SECURITY_TOKEN", "ALIBABA_CLOUD_SECURITY_TOKEN")
    if token:
        parameters["SecurityToken"] = token
    parameters["Signature"] = signature("POST", parameters, secret)
    endpoint = variable("PGDYNO_POLARDB_ENDPOINT") or ENDPOINT
    request = urllib.request.Request(endpoint, urllib.parse.urlencode(parameters).encode())
    try:
        with urllib.request.urlopen(request, timeout=60):
            return None
    except urllib.error.HTTPError as error:
        try:
            answer = json.load(error)
        except ValueError:
            answer = {}
        return answer.get("Code", str(error.code)), answer.get("Message", error.reason)
    except urllib.error.URLError as error:
        return "Unreachable", str(error.reason)


def main():
    cluster, region, password = (os.environ.get(f"PGDYNO_{name}") for name in ("CLUSTER", "REGION", "PASSWORD"))
    if not password:
        sys.exit(f"failed to make account {ACCOUNT} of {cluster}: no password")
    account = {"RegionId": region, "DBClusterId": cluster, "AccountName": ACCOUNT, "AccountPassword": password}
    pause_s = float(variable("PGDYNO_POLARDB_PAUSE_S") or PAUSE_S)
    for _ in range(ATTEMPTS):
        failed = call("CreateAccount", {**account, "AccountType": "Super"})
        if failed and ("Duplicate" in failed[0] or "Exist" in failed[0]):
            failed = call("ResetAccount", account)
        if failed is None:
            return
        if not failed[0].startswith(("OperationDenied", "Unreachable", "Throttling", "ServiceUnavailable")):
            break
        time.sleep(pause_s)
    sys.exit(f"failed to make account {ACCOUNT} of {cluster}: {failed[0]}: {failed[1]}".replace(password, "***"))


if __name__ == "__main__":
    main()
