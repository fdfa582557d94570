import type { ConnectionOptions } from "node:tls";
import { invalidArgument, invalidValue } from "../../invalid-argument.js";
import { checkOptionNames } from "../../option-names.js";
import { quote } from "../../quote.js";
import { unsupported } from "../../unsupported.js";

/** Where the RabbitMQ is, and how to keep messages there. */
export interface RabbitmqEngineOptions {
  /** `amqp://[user:password@]host[:port][/vhost]`, or `amqps://…` for TLS. */
  readonly url: string;
  /** Instead of the one in the URL. */
  readonly username?: string | undefined;
  /** Instead of the one in the URL. */
  readonly password?: string | undefined;
  /** Options of TLS, such as `ca`; only with `amqps://`. */
  readonly tls?: ConnectionOptions | undefined;
  /**
   * First part of the name of every exchange and queue, so that applications can share a broker: letters, digits, `.`, `_` and
   * `-`, at most 64. Default `punctual`. All queues of one prefix share one ladder.
   */
  readonly prefix?: string | undefined;
  /**
   * Where messages wait. `ladder`, the default: in queues with a TTL, on any RabbitMQ. `plugin`: in an exchange of the plugin
   * rabbitmq_delayed_message_exchange, which the broker has to have.
   */
  readonly mode?: "ladder" | "plugin" | undefined;
  /** The type of the queues. Default: `quorum` where the broker can delay in them, which is from 3.10 on, else `classic`. */
  readonly queues?: "quorum" | "classic" | undefined;
}

/** Where to connect to. */
export interface BrokerAddress {
  /** The address without user and password, for error texts. */
  readonly target: string;
  readonly protocol: "amqp" | "amqps";
  readonly hostname: string;
  readonly port: number;
  readonly vhost: string;
  readonly username: string;
  readonly password: string;
  readonly tls: ConnectionOptions | undefined;
}

/** The options, checked and with the defaults. */
export interface RabbitmqEngineSettings {
  readonly address: BrokerAddress;
  readonly prefix: string;
  readonly mode: "ladder" | "plugin";
  readonly queues: "quorum" | "classic" | undefined;
}

const names = new Set(["url", "username", "password", "tls", "prefix", "mode", "queues"]);
const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const acceptedUrls = "amqp://[user:password@]host[:port][/vhost], or amqps://… for TLS";

/** Fails with `invalid-argument`, without showing what may hold a password, and with `unsupported` for bounds of dead letters. */
export function readRabbitmqEngineOptions(options: RabbitmqEngineOptions): RabbitmqEngineSettings {
  if (typeof options !== "object" || options === null) {
    const given = typeof options === "string" ? "a string" : quote(options);
    throw invalidArgument("options", `options is ${given}`, 'an object such as { url: "amqp://127.0.0.1:5672" }');
  }
  if (Reflect.get(options, "deadLetters") !== undefined) {
    const why = "its dead letters lie in a queue of the broker, which only a policy can bound";
    throw unsupported("rabbitmq", "bury with deadLetters", why, { operation: "bury" });
  }
  checkOptionNames(options, names, "options");
  const { prefix = "punctual", mode = "ladder", queues } = options;
  if (typeof prefix !== "string" || !prefixPattern.test(prefix)) {
    const accepted = '1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit';
    throw invalidValue("prefix", prefix, accepted);
  }
  if (mode !== "ladder" && mode !== "plugin") throw invalidValue("mode", mode, '"ladder" or "plugin"');
  if (queues !== undefined && queues !== "quorum" && queues !== "classic") {
    throw invalidValue("queues", queues, '"quorum" or "classic"');
  }
  return { address: addressFrom(options), prefix, mode, queues };
}

function addressFrom({ url, username, password, tls }: RabbitmqEngineOptions): BrokerAddress {
  if (typeof url !== "string") {
    throw invalidArgument("url", url === undefined ? "url is missing" : `url is ${quote(url)}`, acceptedUrls);
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const protocol = parsed?.protocol.slice(0, -1);
  if (parsed === undefined || (protocol !== "amqp" && protocol !== "amqps") || parsed.hostname === "") {
    throw invalidArgument("url", "The RabbitMQ URL cannot be understood", acceptedUrls);
  }
  if (username !== undefined && typeof username !== "string")
    throw invalidArgument("username", "username is no string", "text");
  if (password !== undefined && typeof password !== "string")
    throw invalidArgument("password", "password is no string", "text");
  if (tls !== undefined && (typeof tls !== "object" || tls === null)) {
    throw invalidArgument("tls", "tls is no object", "an object with options of TLS, such as { ca }");
  }
  if (tls !== undefined && protocol === "amqp") {
    throw invalidArgument("tls", "tls is given, and the URL does not ask for TLS", "a URL that starts with amqps://");
  }
  const port = parsed.port === "" ? (protocol === "amqp" ? 5672 : 5671) : Number(parsed.port);
  return {
    target: `${protocol}://${parsed.hostname}:${port}`,
    protocol,
    // IPv6 addresses stand in brackets in a URL only.
    hostname: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port,
    vhost: decoded(parsed.pathname.slice(1)) || "/",
    username: username ?? (decoded(parsed.username) || "guest"),
    password: password ?? (decoded(parsed.password) || "guest"),
    tls,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalidArgument("url", "The RabbitMQ URL holds a % that starts no escape", "%25 for a %");
  }
}
