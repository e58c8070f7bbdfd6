// Where the server is: this machine, or another one that the user has allowed.

export interface Address {
  readonly host: string;
  readonly port: number;
  /** Whether it is this machine; another one is asked over https. */
  readonly local: boolean;
}

const LOCAL = new Set(["127.0.0.1", "localhost", "::1", "[::1]"]);
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?$/i;

/**
 * The address that the settings name.
 *
 * @throws Error: it is no host's name, or not this machine though nothing else is allowed
 */
export function addressOf(host: string, port: number, allowOther: boolean): Address {
  if (LOCAL.has(host.toLowerCase())) return { host: host.toLowerCase().replace(/^\[|\]$/g, ""), port, local: true };
  if (!NAME.test(host))
    throw new Error(`neuralCodeSearch.host takes the name of a host such as 127.0.0.1, not ${JSON.stringify(host)}.`);
  if (!allowOther) {
    throw new Error(
      `Nothing was sent: ${host} is not this machine. To send queries and the code above them there, turn on neuralCodeSearch.allowOtherHost.`,
    );
  }
  return { host, port, local: false };
}

/** As it is shown. */
export function shown({ host, port, local }: Address): string {
  return `${local ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
