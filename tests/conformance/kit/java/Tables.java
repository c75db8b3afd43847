import java.util.Map;
import org.apache.iceberg.catalog.CatalogTests;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The kit's tests of namespaces and tables; of its switches, each stands where most is asked for. */
class Tables extends CatalogTests<RESTCatalog> {
  private RESTCatalog catalog;

  @BeforeEach
  void connect() {
    catalog = Warehouse.connect("kit", Map.of());
  }

  @AfterEach
  void close() throws Exception {
    Warehouse.clear(catalog);
    catalog.close();
  }

  @Override
  protected RESTCatalog catalog() {
    return catalog;
  }

  @Override
  protected RESTCatalog initCatalog(String name, Map<String, String> additionalProperties) {
    return Warehouse.connect(name, additionalProperties);
  }

  @Override
  protected String baseTableLocation(TableIdentifier identifier) {
    return Warehouse.place(identifier.namespace().toString(), identifier.name());
  }

  @Override
  protected boolean supportsNestedNamespaces() {
    return true;
  }

  @Override
  protected boolean requiresNamespaceCreate() {
    return true;
  }

  @Override
  protected boolean supportsServerSideRetry() {
    return true;
  }
}
