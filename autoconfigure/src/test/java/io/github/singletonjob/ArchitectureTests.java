package io.github.singletonjob;

import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.elements.GivenClassesConjunction;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.members;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The ladder of packages, and the habits that a compiler does not hold. A package that is
 * still empty passes; importing nothing at all does not.
 */
class ArchitectureTests {

	private static final String ROOT = "io.github.singletonjob";

	private static final String LEASE = ROOT + ".lease..";

	private static final String RUNTIME = ROOT + ".runtime..";

	private static final String FENCING = ROOT + ".fencing..";

	private static final String JPA = ROOT + ".jpa..";

	private static final String AUTOCONFIGURE = ROOT + ".autoconfigure..";

	private static final String[] PLAIN_JAVA = { "java..", "javax.sql..", "org.jspecify..", "org.slf4j..",
			"org.apache.commons.logging.." };

	private static final Set<String> VAGUE = Set.of("util", "utils", "support", "common", "impl", "manager", "helper");

	private static final JavaClasses production = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption(new ImportOption.DoNotIncludeJars())
		.importPackages(ROOT);

	@Test
	void thereIsSomethingToCheck() {
		assertThat(production).extracting(JavaClass::getName).contains(SingletonJob.class.getName());
		assertThat(production).noneMatch((type) -> type.getSimpleName().endsWith("Tests"));
	}

	@Test
	void packagesHaveNoCycles() {
		check(slices().assignedFrom(new EveryPackage()).should().beFreeOfCycles());
	}

	@Test
	void rootDependsOnNothingButItself() {
		check(in(ROOT).should().onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT)));
	}

	@Test
	void leaseDependsOnRootOnly() {
		check(in(LEASE).should().onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT, LEASE)));
	}

	@Test
	void runtimeDependsOnLeaseAndRootAndNoSpringOrClient() {
		check(in(RUNTIME).should().onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT, LEASE, RUNTIME)));
	}

	@Test
	void fencingDependsOnLeaseAndRootAndSpringsJdbcOnly() {
		check(in(FENCING).should()
			.onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT, LEASE, FENCING, "org.springframework.jdbc..",
					"org.springframework.transaction..", "org.springframework.dao..", "org.springframework.core..",
					"org.springframework.util..", "org.springframework.aop..", "org.aopalliance..")));
	}

	@Test
	void jpaDependsOnLeaseAndRootAndHibernateOnly() {
		check(in(JPA).should()
			.onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT, LEASE, JPA, "org.hibernate..", "jakarta.persistence..")));
	}

	@Test
	void propagationDependsOnRootAndTheContextLibraryOnly() {
		check(in(ROOT + ".propagation..").should()
			.onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT, ROOT + ".propagation..", "io.micrometer.context..")));
	}

	@Test
	void scopeDependsOnRuntimeAndSpringsScopesOnly() {
		check(in(ROOT + ".scope..").should()
			.onlyDependOnClassesThat(reside(PLAIN_JAVA, ROOT, LEASE, RUNTIME, ROOT + ".scope..",
					"org.springframework.beans..", "org.springframework.context..", "org.springframework.core..",
					"org.springframework.util..", "org.springframework.web..")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgres", "redis", "etcd", "memory" })
	void storeDependsOnLeaseAndRootOnly(String store) {
		String own = ROOT + "." + store + "..";
		check(in(own).should()
			.onlyDependOnClassesThat(
					resideInAnyPackage(ROOT, LEASE, own).or(resideOutsideOfPackage(ROOT + "..")).or(primitives())));
	}

	@Test
	void onlyAutoconfigureSeesBoot() {
		check(noClasses().that(resideOutsideOfPackage(AUTOCONFIGURE))
			.should()
			.dependOnClassesThat(resideInAPackage("org.springframework.boot..")));
	}

	@Test
	void autoConfigurationsArePublicAndFinal() {
		check(classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.andShould()
			.haveModifier(JavaModifier.FINAL));
	}

	@Test
	void autoConfigurationsHaveNoPublicMembers() {
		check(members().that()
			.areDeclaredInClassesThat()
			.areAnnotatedWith(AutoConfiguration.class)
			.and(DescribedPredicate.not(defaultConstructorsAndConstants()))
			.should()
			.notBePublic());
	}

	@Test
	void everyPackageIsNullMarked() {
		check(classes().should(beInANullMarkedPackage()));
	}

	@Test
	void namesSayWhatATypeIsFor() {
		check(classes().should(haveATellingName()));
	}

	@Test
	void runtimeTakesTimeFromItsClock() {
		check(noClasses().that(resideInAPackage(RUNTIME))
			.and()
			.doNotHaveSimpleName("SystemClock")
			.should()
			.accessTargetWhere(readsTheTimeOrSleeps()));
	}

	private static void check(ArchRule rule) {
		rule.allowEmptyShould(true).check(production);
	}

	private static GivenClassesConjunction in(String packageName) {
		return classes().that(resideInAPackage(packageName));
	}

	private static DescribedPredicate<JavaClass> reside(String[] packages, String... morePackages) {
		String[] all = Stream.concat(Arrays.stream(packages), Arrays.stream(morePackages)).toArray(String[]::new);
		return resideInAnyPackage(all).or(primitives());
	}

	private static DescribedPredicate<JavaClass> primitives() {
		return DescribedPredicate.describe("primitives", (type) -> type.getBaseComponentType().isPrimitive());
	}

	private static DescribedPredicate<JavaMember> defaultConstructorsAndConstants() {
		return DescribedPredicate.describe("default constructors and constants",
				(member) -> (member instanceof JavaConstructor constructor && constructor.getParameters().isEmpty())
						|| (member instanceof JavaField field && field.getModifiers().contains(JavaModifier.STATIC)
								&& field.getModifiers().contains(JavaModifier.FINAL)));
	}

	private static DescribedPredicate<JavaAccess<?>> readsTheTimeOrSleeps() {
		return DescribedPredicate.describe("reads the time or sleeps", (access) -> {
			String name = access.getTarget().getName();
			JavaClass owner = access.getTargetOwner();
			return (owner.isEquivalentTo(System.class) && (name.equals("currentTimeMillis") || name.equals("nanoTime")))
					|| (owner.isEquivalentTo(Instant.class) && name.equals("now"))
					|| ((owner.isEquivalentTo(Thread.class) || owner.isEquivalentTo(TimeUnit.class))
							&& name.equals("sleep"));
		});
	}

	private static ArchCondition<JavaClass> beInANullMarkedPackage() {
		return new ArchCondition<>("be in a package marked @NullMarked") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				boolean marked = type.getPackage()
					.tryGetPackageInfo()
					.map((info) -> info.isAnnotatedWith(NullMarked.class))
					.orElse(false);
				events.add(new SimpleConditionEvent(type, marked,
						type.getName() + ": its package " + (marked ? "is" : "is not") + " marked"));
			}

		};
	}

	private static ArchCondition<JavaClass> haveATellingName() {
		return new ArchCondition<>("have a name and a package that say what they are for") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				String[] words = type.getSimpleName().split("(?<=[a-z0-9])(?=[A-Z])", -1);
				String lastWord = words[words.length - 1];
				boolean vague = isVague(lastWord)
						|| Arrays.stream(type.getPackageName().split("\\.", -1)).anyMatch(ArchitectureTests::isVague);
				events.add(
						new SimpleConditionEvent(type, !vague, type.getName() + (vague ? " is vague" : " is telling")));
			}

		};
	}

	private static boolean isVague(String word) {
		return VAGUE.contains(word.toLowerCase(Locale.ROOT));
	}

	/** One slice for each package, the root included. */
	private static final class EveryPackage implements SliceAssignment {

		@Override
		public SliceIdentifier getIdentifierOf(JavaClass type) {
			return SliceIdentifier.of(type.getPackageName());
		}

		@Override
		public String getDescription() {
			return "every package";
		}

	}

}
