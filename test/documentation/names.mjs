// What names.d.ts declares, for the programs that run: each says that it was called.
for (const name of ["cancelIfUnpaid", "sendReminder"]) {
  globalThis[name] = async (...values) => console.log(name, ...values);
}
