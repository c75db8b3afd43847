"use strict";
// The documents' addresses are relative to this file, so that the pages work behind any prefix.
{
  const here = document.currentScript.src;
  const listed = JSON.parse(document.getElementById("swagger-ui").dataset.documents);
  SwaggerUIBundle({
    dom_id: "#swagger-ui",
    urls: listed.map(({ name, url }) => ({ name, url: new URL(url, here).href })),
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: "StandaloneLayout",
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: "none",
    validatorUrl: null, // else every document's address goes to a server of Swagger's makers
  });
}
