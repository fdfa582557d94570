/** Ids as scripts write them one behind the other: each as length (u16) and text. */
export function idsIn(bytes: Buffer): string[] {
  const ids: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 2 + bytes.readUInt16BE(at);
    ids.push(bytes.toString("utf8", at + 2, end));
    at = end;
  }
  return ids;
}
