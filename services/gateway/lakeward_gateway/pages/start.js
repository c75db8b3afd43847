"use strict";
// Everything is relative to where this page is, so that it works behind any prefix.
{
  const base = new URL(".", document.baseURI);
  const input = document.getElementById("warehouse");
  const fill = (name, text) => {
    for (const place of document.querySelectorAll(`[data-${name}]`)) place.textContent = text;
  };
  const link = (parent, { name, url }) => {
    const made = document.createElement("a");
    made.textContent = name;
    made.href = new URL(url.replace(/^\.\.\//, ""), base).href;
    parent.append(" ", made);
  };
  const documents = document.getElementById("documents");
  for (const each of JSON.parse(documents.dataset.documents)) link(documents, each);

  fill("uri", new URL("catalog", base).href);
  input.addEventListener("input", () => fill("warehouse", input.value || "<warehouse>"));

  // Warehouses are their owners' business: this asks as nobody, and shows what the management API tells nobody.
  const tell = async () => {
    const reply = await fetch(new URL("management/v1/warehouse", base), { credentials: "omit" });
    if (!reply.ok) return;
    const names = (await reply.json()).warehouses.map(({ name }) => name);
    const list = document.getElementById("warehouses");
    for (const name of names) {
      const option = document.createElement("option");
      option.value = name;
      list.append(option);
    }
    if (names.length === 0) return;
    document.getElementById("known").textContent = `Here are: ${names.join(", ")}.`;
    input.value = names[0];
    input.dispatchEvent(new Event("input"));
  };
  tell().catch(() => {}); // without an answer the page says what it says without a script
}
